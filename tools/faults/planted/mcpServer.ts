import type { Fault } from '../mutate.ts'

const file = (name: string): string => `src/server/mcp/${name}.ts`

export const faults: readonly Fault[] = [
  {
    id: 'mcpServer-1',
    file: file('callAgent'),
    what: 'a cancelled call aborts whatever its session does',
    from: "agent.dispatch({ type: 'agent.abort', agentId: agent.id, run })",
    to: 'agent.abort()',
    tests: ['server/mcp/lifetimes'],
  },
  {
    id: 'mcpServer-2',
    file: file('agentServer'),
    what: 'a client that loses its connection aborts its run',
    from: 'return !(reason instanceof sdk.SdkError && reason.code === sdk.SdkErrorCode.ConnectionClosed)',
    to: 'return reason !== undefined',
    tests: ['server/mcp/lifetimes'],
  },
  {
    id: 'mcpServer-3',
    file: file('agentServer'),
    what: 'a server that closes aborts the runs that clients wait for',
    from: '!visit.isLeaving && isCancellation',
    to: 'isCancellation',
    tests: ['server/mcp/lifetimes'],
  },
  {
    id: 'mcpServer-4',
    file: file('legacySessions'),
    what: 'a client uses the connection of one that may do more',
    from: 'session?.access.isLike(access) !== true',
    to: 'session === undefined',
    tests: ['server/mcp/lifetimes'],
  },
  {
    id: 'mcpServer-5',
    file: file('callAgent'),
    what: 'a sub-agent is driven past its caller',
    from: 'if (agent.path.length > 0)',
    to: 'if (agent.path.length > 9)',
    tests: ['server/mcp/server'],
  },
  {
    id: 'mcpServer-6',
    file: file('agentServer'),
    what: 'a client is asked for approvals that are to be made elsewhere',
    from: 'mayAsk: asksClient && hasForms(capabilities)',
    to: 'mayAsk: hasForms(capabilities)',
    tests: ['server/mcp/people'],
  },
  {
    id: 'mcpServer-7',
    file: file('people'),
    what: 'a form that was closed approves',
    from: "if (action === 'cancel') return denied('The question was dismissed.')",
    to: "if (action === 'cancel') return { decision: 'approve', how: {} }",
    tests: ['server/mcp/people'],
  },
  {
    id: 'mcpServer-8',
    file: file('callAgent'),
    what: 'a task waits behind a decision that nobody is asked for, and runs unheard',
    from: 'if (!mayAsk && awaitsDecision(agent))',
    to: "if (!mayAsk && agent.state === 'nowhere')",
    tests: ['server/mcp/people'],
  },
  {
    id: 'mcpServer-9',
    file: file('rounds'),
    what: 'a person is asked for what was decided elsewhere, and the call waits for them',
    from: 'if (isDecided(event, question.key)) settled.abort',
    to: 'if (isDecided(event, question.name)) settled.abort',
    tests: ['server/mcp/people'],
  },
]
