package lmdb

// mutexSize is the size of glibc's pthread_mutex_t.
const mutexSize = 48
