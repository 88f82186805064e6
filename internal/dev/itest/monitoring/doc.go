// Package monitoring checks what docs/deploy has for Prometheus and Grafana against a mill that runs: that every metric and
// label they name is there, that they leave no metric out, and what the alerts fire at.
package monitoring
