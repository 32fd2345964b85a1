import type { Fault } from '../mutate.ts'

/** Slips in the state of an agent at other doors: useChat, MCP, sub-agents and handoffs. */
export const faults: readonly Fault[] = [
  {
    id: 'elsewhere-state-1',
    file: 'packages/ai-sdk/src/stateParts.ts',
    what: 'a message is given a part for each change, however many there are',
    from: 'parts.length === 0 || parts.length > mostPatches || chars > mostChars',
    to: 'parts.length === 0',
    tests: ['packages/ai-sdk/test/state'],
  },
  {
    id: 'elsewhere-state-2',
    file: 'packages/ai-sdk/src/uiCursor.ts',
    what: 'a client whose step was taken back does not get the state again',
    from: '    // Those of the state may have stood in the step.\n    this.#state = new Map()\n',
    to: '',
    tests: ['packages/ai-sdk/test/state'],
  },
  {
    id: 'elsewhere-state-3',
    file: 'packages/ai-sdk/src/chatThread.ts',
    what: 'what people changed before a prompt is forgotten once the thread is read anew',
    from: 'this.#fold.beginningAt(event.seq)',
    to: 'event.seq',
    tests: ['packages/ai-sdk/test/state'],
  },
  {
    id: 'elsewhere-state-4',
    file: 'packages/bridge/src/client/chatState.ts',
    what: 'changes older than the whole state are made to it again',
    from: '.filter(({ version }) => version > whole.version)',
    to: '',
    tests: ['packages/ai-sdk/test/state'],
  },
  {
    id: 'elsewhere-state-5',
    file: 'packages/mcp/src/server/stateResources.ts',
    what: 'clients that see only messages read the state',
    from: "  access.must('see.all', 'resources')\n",
    to: '',
    tests: ['packages/mcp/test/server/state'],
  },
  {
    id: 'elsewhere-state-6',
    file: 'packages/mcp/src/server/stateResources.ts',
    what: 'a client that has ended its subscription is told of changes',
    from: '    this.#ends.get(uri)?.()\n',
    to: '',
    tests: ['packages/mcp/test/server/state'],
  },
  {
    id: 'elsewhere-state-7',
    file: 'src/runtime/children/copiedState.ts',
    what: 'an agent that goes on gets the state of its caller once more',
    from: 'const isNew = host.view.conversation.state === undefined',
    to: 'const isNew = false',
    tests: ['journeys/lendsState'],
  },
  {
    id: 'elsewhere-state-8',
    file: 'src/actors/calls/outcome.ts',
    what: 'a conversation is handed over whose state the next agent cannot read',
    from: '  checkHandedState(ports, to)\n',
    to: '',
    tests: ['journeys/lendsState'],
  },
]
