import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'mcp-task-1',
    file: 'packages/mcp/src/client/taskCall.ts',
    what: 'a task that was begun before a crash is begun again',
    from: 'if (known?.taskId !== undefined) return { task: await this.#look() }',
    to: '',
    tests: ['packages/mcp/test/tasks.full.test'],
  },
  {
    id: 'mcp-task-2',
    file: 'src/machines/calls.ts',
    what: 'a call that noted what it began elsewhere is not gone on with after a crash',
    from: 'call.childId !== undefined || isNoted(draft, call) || mayRerun',
    to: 'call.childId !== undefined || mayRerun',
    tests: ['packages/mcp/test/tasks.test'],
  },
  {
    id: 'mcp-task-3',
    file: 'packages/mcp/src/client/taskCall.ts',
    what: 'a task whose call is aborted goes on at the server',
    from: 'if (this.signal.aborted) await this.#cancel()',
    to: '',
    tests: ['packages/mcp/test/tasks.test'],
  },
  {
    id: 'mcp-task-4',
    file: 'packages/mcp/src/server/agentTasks.ts',
    what: 'a task that is begun twice by one client works twice',
    from: 'if (await access.wasAsked(agent, requestId)) return this.#at(tool, agent, requestId)',
    to: '',
    tests: ['packages/mcp/test/tasks.test'],
  },
  {
    id: 'mcp-task-5',
    file: 'packages/mcp/src/server/agentTasks.ts',
    what: 'a task that is over is cancelled once more',
    from: 'if (isOver(before)) throw isOverAlready(taskId, before.status)',
    to: '',
    tests: ['packages/mcp/test/tasks.full.test'],
  },
]
