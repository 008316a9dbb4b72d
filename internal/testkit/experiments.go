package testkit

// SmallExperiment is the text of an experiment file of 30 trials, which names no data.
const SmallExperiment = `
name: small
methods:
  - kmeans
  - {name: nmf, iterations: 20}
  - {name: gnmf, lambda: 1, iterations: 20}
  - {name: cnmf-kl, iterations: 30}
  - {name: ccf, init: nmf, as: CCF, iterations: 20}
classes: [2, 4]
repeats: 3
labels: 30%
rank: k+1
cluster: {distance: cosine, restarts: 3}
seed: 4
`

// SweptExperiment is the text of one whose methods are swept, which names no data.
const SweptExperiment = `
name: swept
methods:
  - nmf
  - {name: cf-ogl, as: OGL, beta: [0.1, 1e2], iterations: 5, lambda: [1, 10, 100]}
  - {name: gnmf, edges: [binary, heat], iterations: 5}
  - {name: cf, init: [random, nmf], iterations: [5, 10]}
  - {name: nmf-kl, tolerance: [1e-3]}
classes: 3
repeats: 2
rank: k
`
