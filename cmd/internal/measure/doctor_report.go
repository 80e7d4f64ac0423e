package measure

// doctorReport is the content of the -json file of doctor -cluster. Seconds and bytes a second.
type doctorReport struct {
	Launcher  string       `json:"launcher,omitempty"` // its variables' words; empty: workers of one process
	MPI       string       `json:"mpi,omitempty"`
	Ranks     []seat       `json:"ranks"`
	Computers int          `json:"computers"`
	Model     doctorModel  `json:"model"`
	Links     []doctorLink `json:"links"`
	Bytes     int64        `json:"bytes"` // of the all-reduces
	Sums      []doctorSum  `json:"allreduce"`
	Auto      string       `json:"auto"`
	Fastest   string       `json:"fastest"`
}

// doctorModel has the figures beside which links are printed.
type doctorModel struct {
	Name           string  `json:"name"`
	Latency        float64 `json:"latency"`
	BytesPerSecond float64 `json:"bytes_per_second"`
}

// doctorLink is the measured link of rank 0 to another rank.
type doctorLink struct {
	Rank           int     `json:"rank"`
	Latency        float64 `json:"latency"`
	BytesPerSecond float64 `json:"bytes_per_second"`
}

// doctorSum is an all-reduce: its time by the figures by which auto chooses, and the measured one.
type doctorSum struct {
	Algorithm string  `json:"algorithm"`
	Estimated float64 `json:"estimated"`
	Measured  float64 `json:"measured"`
}
