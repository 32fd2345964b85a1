import type { Fault } from '../mutate.ts'

const inMachine = ['machines/hooks']
const asked = ['journeys/asksBeforeTool']
const reviewed = ['journeys/reviewsResults']

export const faults: readonly Fault[] = [
  {
    id: 'hooks-1',
    file: 'src/actors/askHook.ts',
    what: 'a call runs though beforeTool broke down',
    from: "  return { type: 'failed', error }",
    to: "  return { type: 'allowed', needsApproval: false }",
    tests: asked,
  },
  {
    id: 'hooks-2',
    file: 'src/actors/askHook.ts',
    what: 'an answer with more than one thing in it is taken for the first',
    from: 'kind !== undefined && others.length === 0 && isSound',
    to: 'kind !== undefined && isSound',
    tests: asked,
  },
  {
    id: 'hooks-3',
    file: 'src/actors/askHook.ts',
    what: 'people are not asked to approve a call whose arguments were edited',
    from: 'needsApproval: await needsApproval(ports, edited, cancellation)',
    to: 'needsApproval: false',
    tests: asked,
  },
  {
    id: 'hooks-4',
    file: 'src/actors/askHook.ts',
    what: 'edited arguments need not fit the schema',
    from: 'if (checked?.ok === false)',
    to: 'if (checked === undefined)',
    tests: asked,
  },
  {
    id: 'hooks-5',
    file: 'src/machines/checkedCalls.ts',
    what: 'arguments that a hook gave are not used',
    from: "{ input: verdict.input, edited: 'hook' }",
    to: "{ edited: 'hook' }",
    tests: inMachine,
  },
  {
    id: 'hooks-6',
    file: 'src/machines/rebuildContext.ts',
    what: 'after a crash a call runs with the arguments of the model again',
    from: "...(edited === undefined ? {} : { edited: call.edited ?? 'hook', input }),",
    to: '',
    tests: inMachine,
  },
  {
    id: 'hooks-7',
    file: 'src/machines/calls.ts',
    what: 'a hook goes on after its call was given up',
    from: "if (status === 'checking') draft.children.push({ type: 'stop', id: hookSlot(index) })",
    to: '',
    tests: inMachine,
  },
  {
    id: 'hooks-8',
    file: 'src/machines/calls.ts',
    what: 'the agent waits for people while a hook is still being asked',
    from: "status === 'running' || status === 'checking')\nexport const pausedCalls",
    to: "status === 'running')\nexport const pausedCalls",
    tests: inMachine,
  },
  {
    id: 'hooks-9',
    file: 'src/actors/afterTool.ts',
    what: 'a result that could not be reviewed is shown',
    from: "return { content: [textBlock(text)], isError: true, hook: 'withheld' }",
    to: 'return {}',
    tests: reviewed,
  },
  {
    id: 'hooks-10',
    file: 'src/actors/openChild.ts',
    what: 'the answers of sub-agents are not reviewed',
    from: 'if (callId === null || output.error !== undefined) return output',
    to: 'if (callId !== null) return output',
    tests: reviewed,
  },
  {
    id: 'hooks-11',
    file: 'src/actors/answerInTime.ts',
    what: 'a hook has all the time in the world',
    from: 'new TimeLimit(clock, timeoutMs, cancellation)',
    to: 'new TimeLimit(clock, timeoutMs * 1_000, cancellation)',
    tests: asked,
  },
]
