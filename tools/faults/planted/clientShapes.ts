import type { Fault } from '../mutate.ts'

const shape = 'packages/bridge/src/client/shape.ts'

/** Slips in what the client checks without schemas. */
export const faults: readonly Fault[] = [
  {
    id: 'clientShapes-1',
    file: shape,
    what: 'a frame without a field that it needs is taken',
    from: "if (isNeeded) return { path: [key], what: 'it is missing' }",
    to: '',
    tests: ['client/shapes'],
  },
  {
    id: 'clientShapes-2',
    file: shape,
    what: 'what is wrong deep in a list is not looked at',
    from: 'if (wrong !== undefined) return at(index, wrong)',
    to: 'if (wrong === undefined) return undefined',
    tests: ['client/shapes'],
  },
  {
    id: 'clientShapes-3',
    file: shape,
    what: 'a field that a command does not know is sent',
    from: '!Object.hasOwn(all, key)',
    to: 'key === all',
    tests: ['client/shapes'],
  },
  {
    id: 'clientShapes-4',
    file: 'packages/bridge/src/client/summaryShapes.ts',
    what: 'a run that ended with an error makes the page lose its list',
    from: "'paused', 'aborted', 'error')",
    to: "'paused', 'aborted')",
    tests: ['client/shapes'],
  },
  {
    id: 'clientShapes-5',
    file: 'packages/bridge/src/client/answers.ts',
    what: 'a message without blocks reaches the views',
    from: 'content: list(partly',
    to: 'source: list(partly',
    tests: ['client/shapes'],
  },
  {
    id: 'clientShapes-6',
    file: 'src/protocol/text/saidContent.ts',
    what: 'a blank prompt is sent, and refused from afar',
    from: 'if (!blocks.some(saysSomething)) return saidNothing',
    to: '',
    tests: ['packages/bridge/test/server/oneContract', 'client/shapes'],
  },
  {
    id: 'clientShapes-deep-1',
    file: 'packages/bridge/src/client/readFrames.ts',
    what: 'an answer of any depth is walked',
    from: 'isDeeper(value, mostDepth) ? tooDeep : shape(value)',
    to: 'shape(value)',
    tests: ['client/shapes'],
  },
  {
    id: 'clientShapes-deep-2',
    file: 'packages/bridge/src/client/readFrames.ts',
    what: 'whoever asked for an answer that is too deep waits for ever',
    from: 'if (refused === undefined) report(error)',
    to: 'if (refused !== undefined) report(error)',
    tests: ['client/shapes'],
  },
]
