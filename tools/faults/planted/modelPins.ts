import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'model-pins-1',
    file: 'src/conversation/tree/annotations.ts',
    what: 'what the model pinned stands in the way of its own revert',
    from: "(by === 'runtime' || by === 'model')",
    to: "by === 'runtime'",
    tests: ['braking/modelPins'],
  },
  {
    id: 'model-pins-2',
    file: 'src/conversation/brakes/pins/pinFold.ts',
    what: 'the model is not told why its pin was refused',
    from: "by === 'model'",
    to: "by === 'runtime'",
    tests: ['braking/modelPins'],
  },
  {
    id: 'model-pins-3',
    file: 'src/actors/define/brakingOptions.ts',
    what: 'a model that may pin sees no ids of steps',
    from: 'prune || graft || pin || asksRecall',
    to: 'prune || graft || asksRecall',
    tests: ['braking/optIn'],
  },
  {
    id: 'model-pins-4',
    file: 'src/actors/define/brakingOptions.ts',
    what: 'every model may pin',
    from: 'isOffered: ({ pin } = {}) => pin === true',
    to: 'isOffered: () => true',
    tests: ['braking/modelPins', 'braking/optIn'],
  },
]
