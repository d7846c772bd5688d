// Package bench measures a provider: the metrics of schema/metrics.json that its
// capabilities allow, through package sandbox, on real sandboxes.
//
// Every raw sample is kept. A failure is counted and is never a sample. A metric
// without samples is unknown with a reason, never 0. Statistics are over all
// samples, untrimmed, with percentiles by nearest rank.
package bench
