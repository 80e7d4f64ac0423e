package serve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// repository holds the models by name and version.
type repository struct {
	cfg     *Config
	metrics *metrics

	loading sync.Mutex // one load or unload at a time

	mu       sync.RWMutex
	models   map[string]*entry
	closed   bool
	changed  chan struct{} // closed, and another one made, when a model's versions have been exchanged
	retiring sync.WaitGroup
}

// entry is a model's versions.
type entry struct {
	serving map[string]*version
	stamps  map[string]string // of the files of the serving versions
	reasons map[string]string // why versions are not served, or not exchanged
}

// sources lists all versions that can be loaded.
func (r *repository) sources() ([]Source, error) {
	if r.cfg.Folder == "" {
		return r.cfg.Models, nil
	}
	return scanFolder(r.cfg.Folder)
}

// loadAll loads all models, and unloads those that are gone. The error joins those of the models that cannot be loaded.
func (r *repository) loadAll() error {
	models, err := r.list()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range models {
		errs = append(errs, r.load(name))
	}
	return errors.Join(errs...)
}

// list returns the names of all models, and unloads those that are gone. The first time that there are some, they share the cores.
func (r *repository) list() (models []string, err error) {
	r.loading.Lock()
	defer r.loading.Unlock()
	all, err := r.sources()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		models = append(models, s.Name)
	}
	models = slices.Compact(models)
	r.mu.RLock()
	gone := maps.Clone(r.models)
	r.mu.RUnlock()
	for name := range gone {
		if !slices.Contains(models, name) {
			r.exchange(name, &entry{})
		}
	}
	if r.cfg.Cores == 0 && len(models) > 0 {
		r.cfg.Cores = max(min(1, r.cfg.AllCores), r.cfg.AllCores/len(models))
	}
	return models, nil
}

// loadLogged is load for a client: a model that cannot be loaded is named in the log.
func (r *repository) loadLogged(name string) error {
	err := r.load(name)
	if err != nil && !isFault(err) && statusOf(err) != http.StatusNotFound {
		r.cfg.Errorf("%v", err)
	}
	return err
}

// load loads the versions of a model whose files are new or have changed, and unloads those whose files are gone. Requests find the old version of a number until
// the new one is ready; the old one ends after those that found it.
func (r *repository) load(name string) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	all, err := r.sources()
	if err != nil {
		return err
	}
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	of := slices.DeleteFunc(slices.Clone(all), func(s Source) bool { return s.Name != name })
	if len(of) == 0 {
		return &failure{http.StatusNotFound, suggest.Unknown("model", name, "models", slices.Compact(known))}
	}
	old := r.entry(name)
	made := &entry{map[string]*version{}, map[string]string{}, map[string]string{}}
	var errs []error
	for _, s := range of {
		had := old.serving[s.Version]
		if had != nil && s.err == nil && s.stamp != "" && old.stamps[s.Version] == s.stamp {
			made.serving[s.Version], made.stamps[s.Version] = had, s.stamp
			continue
		}
		v, err := r.open(s, had == nil)
		if err != nil {
			errs = append(errs, err)
			made.reasons[s.Version] = err.Error()
			if had != nil {
				made.serving[s.Version], made.stamps[s.Version] = had, old.stamps[s.Version]
			}
			continue
		}
		made.serving[s.Version], made.stamps[s.Version] = v, s.stamp
	}
	r.exchange(name, made)
	return errors.Join(errs...)
}

// CheckName returns an error for a name that no model may have: it stands in paths of requests, in JSON and in the log.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8, as JSON, gRPC and metrics want it")
	case name[0] == '.':
		return errors.New("the name begins with a dot, as hidden folders do")
	case strings.ContainsFunc(name, func(c rune) bool { return c == '/' || unicode.IsControl(c) }):
		return errors.New("the name has a slash or a control character, which paths of requests and the log cannot have")
	}
	return nil
}

// open loads a version. alone: no other one of its number answers meanwhile.
func (r *repository) open(s Source, alone bool) (v *version, err error) {
	what := fmt.Sprintf("model %q, version %s", s.Name, cmp.Or(s.Version, "none"))
	if s.err != nil {
		return nil, fmt.Errorf("%s: %w", what, s.err)
	}
	if err := CheckName(s.Name); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	err = relay.Error(func() error {
		m, err := r.cfg.Load(s.Options)
		if err != nil {
			return err
		}
		if v, err = start(s.Name, s.Version, m, r.cfg, r.metrics.of(s.Name, s.Version), alone); err == nil {
			v.file = s.Options.Net
		}
		return err
	})
	if err != nil {
		if isFault(err) {
			r.cfg.Errorf("%s: %v", what, err)
		}
		return nil, withoutStack(what, err)
	}
	return v, nil
}

// unload takes a model away. Its versions end after the requests that found them.
func (r *repository) unload(name string) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	old := r.entry(name)
	if len(old.serving) == 0 {
		return failf(http.StatusNotFound, "model %q is not loaded", name)
	}
	gone := &entry{nil, nil, map[string]string{}}
	for number := range old.serving {
		gone.reasons[number] = "unloaded"
	}
	r.exchange(name, gone)
	return nil
}

// exchange puts an entry into the place of a model's, and retires the versions that it does not have.
func (r *repository) exchange(name string, made *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		for _, v := range made.serving {
			go v.retire()
		}
		return
	}
	old := cmp.Or(r.models[name], &entry{})
	r.models[name] = made
	close(r.changed)
	r.changed = make(chan struct{})
	for number, v := range old.serving {
		if made.serving[number] != v {
			r.retire(v)
		}
	}
}

// retire retires a version. close waits for its end unless it is making plans.
func (r *repository) retire(v *version) {
	if v.plans() {
		go v.retire()
	} else {
		r.retiring.Go(v.retire)
	}
}

// change returns a channel that is closed when the versions of a model are exchanged.
func (r *repository) change() <-chan struct{} {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.changed
}

func (r *repository) model(name string) (*entry, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.models[name]
	return e, ok
}

// entry is model for a name that may be new.
func (r *repository) entry(name string) *entry {
	if e, ok := r.model(name); ok {
		return e
	}
	return &entry{}
}

// find returns a version of a model; without a number, the highest. The caller calls users.Done when its request has ended.
func (r *repository) find(name, number string) (*version, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.models[name]
	if e == nil {
		return nil, failf(http.StatusNotFound, "model %q is not in the repository", name)
	}
	if number == "" {
		for n := range e.serving {
			if number == "" || isHigher(n, number) {
				number = n
			}
		}
	}
	v := e.serving[number]
	if v == nil {
		return nil, e.missing(name, number)
	}
	v.users.Add(1)
	return v, nil
}

// missing is the error for a version that is not ready; without a number, for any.
func (e *entry) missing(name, number string) error {
	ready := strings.Join(e.numbers(), ", ")
	switch {
	case number == "":
		return failf(http.StatusNotFound, "model %q has no version that is ready", name)
	case ready == "":
		return failf(http.StatusNotFound, "model %q has no version %s ready; none is ready", name, number)
	}
	return failf(http.StatusNotFound, "model %q has no version %s ready; ready are %s", name, number, ready)
}

// isHigher compares version numbers, which have no leading zeros.
func isHigher(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// numbers lists the versions that are ready, in ascending order.
func (e *entry) numbers() []string {
	list := []string{}
	for n := range e.serving {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return list
}

// ready reports whether some model can be used.
func (r *repository) ready() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, e := range r.models {
		if len(e.serving) > 0 {
			return true
		}
	}
	return false
}

// indexed is a version in the answer of the call index.
type indexed struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state"` // READY or UNAVAILABLE
	Reason  string `json:"reason"`
}

// stateReady is the state of a version that is served.
const stateReady = "READY"

// index lists the versions that are loaded and, unless only these are asked for, that could not be loaded and that can be loaded.
func (r *repository) index(ready bool) ([]indexed, error) {
	all, err := r.sources()
	if err != nil {
		return nil, err
	}
	list := []indexed{}
	has := func(name, number string) bool {
		return slices.ContainsFunc(list, func(i indexed) bool { return i.Name == name && i.Version == number })
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for name, e := range r.models {
		for number := range e.serving {
			list = append(list, indexed{name, number, stateReady, e.reasons[number]})
		}
		for number, why := range e.reasons {
			if !has(name, number) {
				list = append(list, indexed{name, number, "UNAVAILABLE", why})
			}
		}
	}
	for _, s := range all {
		if !has(s.Name, s.Version) {
			list = append(list, indexed{s.Name, s.Version, "UNAVAILABLE", "not loaded"})
		}
	}
	if ready {
		list = slices.DeleteFunc(list, func(i indexed) bool { return i.State != stateReady })
	}
	slices.SortFunc(list, func(a, b indexed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(len(a.Version), len(b.Version)), cmp.Compare(a.Version, b.Version))
	})
	return list, nil
}

// close retires all versions, also those that are loaded meanwhile. It waits for their end, but for no plan that is being made: nobody waits for a run with it.
func (r *repository) close() {
	r.mu.Lock()
	for _, e := range r.models {
		for _, v := range e.serving {
			r.retire(v)
		}
	}
	r.closed, r.models = true, map[string]*entry{}
	r.mu.Unlock()
	r.retiring.Wait()
}
