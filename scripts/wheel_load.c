// Loads the Python module's library, as Python does, and asks it for the types of layers: for a library of another system than this one's, whose
// Python is not here. Its argument is the library; scripts/wheel.sh and release_check.sh compile it.
#include <stdio.h>
#include <string.h>

typedef char *(*function)(const char *, const char *);

#ifdef _WIN32
#include <windows.h>
static function find(const char *file) {
  HMODULE library = LoadLibraryA(file);
  return library ? (function)(void *)GetProcAddress(library, "sw_call") : 0;
}
#else
#include <dlfcn.h>
static function find(const char *file) {
  void *library = dlopen(file, RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  return library ? (function)dlsym(library, "sw_call") : 0;
}
#endif

int main(int n, char **words) {
  function call = n == 2 ? find(words[1]) : 0;
  if (!call) {
    fprintf(stderr, "no library with sw_call\n");
    return 1;
  }
  char *types = call("types", "{}");
  printf("the library answers with %d characters of layer types\n", (int)strlen(types));
  return !strstr(types, "Convolution");
}
