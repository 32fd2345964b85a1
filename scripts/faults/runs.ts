import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'runs-1',
    file: 'src/actors/streamReply.ts',
    what: 'a reply that ends for tools without calling any is no answer, and is not checked',
    from: "(reply.stopReason === 'stop' || reply.stopReason === 'toolUse')",
    to: "reply.stopReason === 'stop'",
    tests: ['runs/runResult'],
  },
  {
    id: 'runs-2',
    file: 'src/actors/streamReply.ts',
    what: 'an answer is checked as it was said, and not as it is kept',
    from: 'said.ok && shown !== text ? readAnswer',
    to: 'said.ok && false ? readAnswer',
    tests: ['runs/runResult'],
  },
  {
    id: 'runs-3',
    file: 'src/runs/run.ts',
    what: 'a run that could not be stored is paused for no reason',
    from: "reason: reason ?? { type: 'store', error }",
    to: 'reason: reason!',
    tests: ['runs/runResult'],
  },
  {
    id: 'runs-4',
    file: 'src/client/remoteRuns.ts',
    what: 'a client takes what happens to be JSON for data',
    from: 'this.#isAnswer = answer === true',
    to: 'this.#isAnswer = true',
    tests: ['bridge/typedAnswers'],
  },
  {
    id: 'runs-5',
    file: 'src/client/remoteRuns.ts',
    what: 'a client does not check answers by its own schema',
    from: 'read?.ok === false',
    to: 'false as boolean',
    tests: ['bridge/typedAnswers'],
  },
]
