import type { Fault } from '../mutate.ts'

/** Slips in what turns are asked with. */
export const faults: readonly Fault[] = [
  {
    id: 'turns-1',
    file: 'src/machines/guards.ts',
    what: 'a run that has answered because of a limit is asked to answer again',
    from: 'run !== null && mayAnswer(run) && overLimit(subject)',
    to: 'run !== null && overLimit(subject)',
    tests: ['journeys/answersAtALimit'],
  },
  {
    id: 'turns-2',
    file: 'src/machines/turns.ts',
    what: 'the last turn of a run has tools',
    from: 'const tools = limit === undefined ? (decision.tools ?? use?.tools) : []',
    to: 'const tools = decision.tools ?? use?.tools',
    tests: ['journeys/answersAtALimit'],
  },
  {
    id: 'turns-3',
    file: 'src/machines/turns.ts',
    what: 'instructions are recorded with every turn',
    from: 'return instructions === last ? { sameInstructions: true } : { instructions }',
    to: 'return last === undefined ? {} : { instructions }',
    tests: ['journeys/preparesTurns'],
  },
  {
    id: 'turns-4',
    file: 'src/machines/calls.ts',
    what: 'what a turn does not offer is run',
    from: 'frame === null || frame.offered === null || frame.offered.includes(name)',
    to: 'frame === null || frame.offered !== undefined || name === callSlot(0)',
    tests: ['journeys/preparesTurns'],
  },
  {
    id: 'turns-5',
    file: 'src/actors/turnFrames.ts',
    what: 'a turn is asked with what the turn before it was',
    from: `      case 'turn.start':
        this.#current = this.#definition
        return`,
    to: `      case 'turn.start':
        return`,
    tests: ['journeys/answersAtALimit', 'journeys/preparesTurns'],
  },
  {
    id: 'turns-6',
    file: 'src/actors/turnFrames.ts',
    what: 'another model costs what the definition’s does',
    from: 'if (model === undefined || model.model === definition.model) return { pricing, prices }',
    to: 'if (model === undefined || prices === null) return { pricing, prices }',
    tests: ['journeys/preparesTurns'],
  },
  {
    id: 'turns-7',
    file: 'src/actors/turnOptions.ts',
    what: 'code that hangs holds its turn for ever',
    from: 'const defaultMs = 30_000',
    to: 'const defaultMs = 30_000_000',
    tests: ['journeys/preparesTurns'],
  },
  {
    id: 'turns-8',
    file: 'src/actors/prepareTurn.ts',
    what: 'nonsense of beforeTurn is taken for nothing',
    from: 'if (!checked.success) throw new Error(`beforeTurn returned nonsense: ${describeIssues(checked.error)}`)',
    to: 'if (!checked.success) return describeIssues(checked.error) === "" ? { tools: [] } : {}',
    tests: ['journeys/preparesTurns'],
  },
  {
    id: 'turns-9',
    file: 'src/machines/recovery.ts',
    what: 'a run that died when it was about to answer goes on as if it had reached no limit',
    from: `pauseRun(draft, limit === undefined ? { type: 'interrupted' } : { type: 'interrupted', limit })`,
    to: `pauseRun(draft, { type: 'interrupted' })`,
    tests: ['journeys/resumesPreparedTurns'],
  },
  {
    id: 'turns-10',
    file: 'src/runtime/agents/turnRequests.ts',
    what: 'a model that is not there any more is waited for in silence',
    from: '    this.missing = model\n',
    to: '',
    tests: ['journeys/usesSomethingElse'],
  },
  {
    id: 'turns-11',
    file: 'src/machines/rebuildContext.ts',
    what: 'what is used is given up by a restart',
    from: `'use.changed': ({ frame }, { use }) => ({ frame: usedFrame(frame, use) }),`,
    to: `'use.changed': ({ frame }) => ({ frame: usedFrame(frame, null) }),`,
    tests: ['journeys/usesSomethingElse'],
  },
  {
    id: 'turns-12',
    file: 'src/actors/models/aiSdk/toCallOptions.ts',
    what: 'a choice of tools is sent without tools',
    from: '...(tools.length > 0 && { tools, ...toToolChoice(request.settings) }),',
    to: '...(tools.length > 0 && { tools }),\n    ...toToolChoice(request.settings),',
    tests: ['actors/aiSdkRequest'],
  },
]
