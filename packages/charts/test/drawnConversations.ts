import type { ConversationNode } from '../../../src/conversation/tree/node.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { ConversationSubject } from '../src/conversationGraph.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { nasty } from './chartedMachines.ts'

const node = (id: number, parentId: number | null, text: string): ConversationNode => ({
  id,
  parentId,
  message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' },
  runId: 'a/r0',
  turnIndex: 0,
  stepId: id,
  tokens: 1,
  pathTokens: 1,
  depth: 1,
  tags: [],
})

/** A tree by the parent of each node; the trunk leads to the last. */
export function treeOf(
  parents: readonly (number | null)[],
  said: (id: number) => string = String,
): ConversationSubject {
  const nodes = parents.map((parent, index) => node(index + 1, parent, said(index + 1)))
  const trunk = new Set<number>()
  for (let at = nodes.at(-1); at !== undefined; at = at.parentId === null ? undefined : nodes[at.parentId - 1])
    trunk.add(at.id)
  const conversation = {
    trunk: () => nodes.filter(({ id }) => trunk.has(id)),
    abandoned: () => nodes.filter(({ id }) => !trunk.has(id)),
  }
  return { id: 'tree', conversation }
}

/** Everything that can be in a conversation. */
export function eventful(): BrakeLog {
  const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
  log.user('Fix it.')
  log.step([{ name: 'read_file', input: { path: 'a.ts' } }])
  log.step([{ output: 'no' }])
  log.user('Quick', 'steering')
  log.step([{ output: 'still no' }])
  log.revert('n3', nasty)
  log.step([{ output: 'yes' }])
  log.prune({ steps: ['n2'], memo: 'a.ts is short' })
  log.step([{ output: 'yes again' }])
  log.compact({ recent: 1 })
  log.reply('Done.')
  return log
}

/** Its records, with sub-agents that a call and nobody called. */
export const calledChild = (log: BrakeLog): LogRecord[] => [
  ...log.records,
  {
    v: 3,
    seq: 99,
    time: 99,
    runId: 'a/r0',
    turnIndex: 0,
    type: 'tool.start',
    callId: 'c0',
    key: 'k',
    name: 'tool',
    input: {},
    childId: 'a.1',
  },
  {
    v: 3,
    seq: 100,
    time: 99,
    runId: 'a/r0',
    turnIndex: 0,
    type: 'child.spawned',
    childId: 'a.s2',
    definition: 'helper',
  },
]

/** Trees of so many nodes, by what they look like. */
export function largeTrees(many: number): readonly (readonly [name: string, subject: ConversationSubject])[] {
  const shapes: Readonly<Record<string, (id: number) => number>> = {
    straight: (id) => id - 1,
    bushy: (id) => Math.ceil((id - 1) / 3),
    star: () => 1,
    // Every second node is abandoned, and each branch leaves another branch.
    deep: (id) => (id === many ? 1 : Math.max(1, id - 2 + (id % 2))),
  }
  return Object.entries(shapes).map(([name, parentOf]) => [
    name,
    treeOf(Array.from({ length: many }, (_, index) => (index === 0 ? null : parentOf(index + 1)))),
  ])
}
