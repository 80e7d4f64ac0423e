// Writes LevelDB databases as processes leave them that end at different moments, with Google's own library:
//
//	g++ -O1 make.cc -lleveldb -o make && ./make databases
//	(cd databases && rm */LOG* && zip -rX9 ../databases.zip .)
//
// N_plain and N_snappy have N journals that hold records. The value of key i, "key%05d", is "value i version v " 30
// times over. v is 1 for i < 200, 2 for 50 <= i < 100; with two journals and more 3 for i >= 80, and key 10 is deleted.
// databases.zip is what LevelDB 1.23 of Debian 12 wrote.
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// A StallingEnv never finishes a table, so that the journals of tables in memory stay. Or it ends the process while that
// opens a database: journals are replayed, but the manifest does not say so yet.
class StallingEnv : public leveldb::EnvWrapper {
 public:
  StallingEnv() : EnvWrapper(leveldb::Env::Default()) {}
  bool stall_tables = false, end_at_manifest = false;
  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override {
    if (stall_tables && name.find(".ldb") != std::string::npos)
      for (;;) pause();
    if (end_at_manifest && name.find("MANIFEST") != std::string::npos) _exit(0);
    return target()->NewWritableFile(name, file);
  }
};

static std::string key(int i) {
  char b[32];
  snprintf(b, sizeof b, "key%05d", i);
  return b;
}

static std::string value(int i, int version) {
  std::string v;
  for (int k = 0; k < 30; k++) v += "value " + std::to_string(i) + " version " + std::to_string(version) + " ";
  return v;
}

static void put(leveldb::DB* db, int from, int to, int version) {
  for (int i = from; i < to; i++)
    if (!db->Put(leveldb::WriteOptions(), key(i), value(i, version)).ok()) abort();
}

static leveldb::DB* open(const std::string& dir, leveldb::Env* env, bool snappy) {
  leveldb::Options o;
  o.create_if_missing = true;
  o.env = env;
  o.write_buffer_size = 64 << 10;  // the least there is: about 80 records
  o.compression = snappy ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  leveldb::DB* db;
  leveldb::Status s = leveldb::DB::Open(o, dir, &db);
  if (!s.ok()) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    abort();
  }
  return db;
}

// apart runs f in a process of its own, which ends without closing anything.
template <class F>
static void apart(F f) {  // before any thread is started here: a fork has none of them
  fflush(stdout);
  if (fork() == 0) {
    f();
    _exit(0);
  }
  wait(nullptr);
}

static void make(const std::string& dir, bool snappy, int journals) {
  if (journals == 0) {  // everything in tables: obsolete journals hold nothing that counts
    apart([&] {
      leveldb::DB* db = open(dir, leveldb::Env::Default(), snappy);
      put(db, 0, 200, 1);
      put(db, 50, 100, 2);
      delete db;
      db = open(dir, leveldb::Env::Default(), snappy);  // recovery moves the journal's records into a table
      db->CompactRange(nullptr, nullptr);
      delete db;
    });
    return;
  }
  apart([&] {  // tables, and a journal
    leveldb::DB* db = open(dir, leveldb::Env::Default(), snappy);
    put(db, 0, 200, 1);
    put(db, 50, 100, 2);
    usleep(300000);  // lets tables be finished
  });
  if (journals == 1) return;
  apart([&] {  // a second journal, as the table of the first one's records is not finished
    StallingEnv env;
    leveldb::DB* db = open(dir, &env, snappy);
    env.stall_tables = true;
    put(db, 80, 200, 3);
    db->Delete(leveldb::WriteOptions(), key(10));
  });
  if (journals == 2) return;
  apart([&] {  // a third one, still empty, of a process that ended when it had replayed the first two
    StallingEnv env;
    env.end_at_manifest = true;
    open(dir, &env, snappy);
  });
}

int main(int argc, char** argv) {
  std::string base = argc > 1 ? argv[1] : "databases";
  leveldb::Env::Default()->CreateDir(base);
  for (int journals = 0; journals <= 3; journals++)
    for (bool snappy : {false, true})
      make(base + "/" + std::to_string(journals) + (snappy ? "_snappy" : "_plain"), snappy, journals);
}
