package lmdb

// mutexSize is that of glibc's pthread_mutex_t.
const mutexSize = 40
