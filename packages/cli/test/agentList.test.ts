import type { AgentSummary } from '../../wire/src/frames.ts'
import { noUsage } from '../../../src/protocol/messages.ts'
import { agentItems, firstAgents, listedAgents } from '../src/chat/agentList.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const agent = (agentId: string, more: Partial<AgentSummary> = {}): AgentSummary => ({
  agentId,
  definition: 'coder',
  path: [],
  state: 'idle',
  seq: 1,
  head: 1,
  pendingApprovals: [],
  spent: { usage: noUsage, costUsd: 0, turns: 0 },
  ...more,
})
const failed = { stopReason: 'error', at: 0, error: { code: 'MODEL_AUTH', message: 'no key' } } as const
const stalled = { stopReason: 'paused', at: 0, reason: { type: 'stall', rule: 'repeat', evidence: 'x' } } as const

describe('the agents that a person can attach to', (it) => {
  it('are named by their titles, those that need a person first', () => {
    const listed = listedAgents([
      agent('rest', { title: 'Write the plan' }),
      agent('busy', {
        title: 'Read all',
        state: 'executing',
        doing: 'run_tests',
        treeSpent: { usage: noUsage, costUsd: 49.3, turns: 9 },
      }),
      agent('bad', { title: 'Sum up', last: failed }),
      agent('round', {
        title: 'Find out',
        state: 'paused',
        last: stalled as unknown as NonNullable<AgentSummary['last']>,
      }),
      // What waits is of an agent below it.
      agent('lead', { state: 'executing', pending: ['lead.1/c0'], activeAt: 1_000 }),
    ])
    assert.equal(
      agentItems(listed, 61_000).map(({ sign, tone, label, details = [] }) =>
        [sign, tone, label, ...details].join(' | '),
      ),
      [
        '■ | yellow | coder lead | waits for you | 1 min | –',
        '● | red | Sum up | failed: MODEL_AUTH |  | –',
        '■ | yellow | Find out | paused: in circles |  | –',
        '● | plain | Read all | runs run_tests |  | $49.30',
        '○ |  | Write the plan | idle |  | –',
      ],
    )
  })

  it('are read page by page, and no more than wanted', async () => {
    const all = Array.from({ length: 250 }, (_, index) => agent(`a${index}`))
    const asked: number[] = []
    const client = {
      agents: async ({ after, limit = 100 }: { readonly after?: string; readonly limit?: number } = {}) => {
        asked.push(limit)
        const from = all.findIndex(({ agentId }) => agentId === after) + 1
        return { agents: all.slice(from, from + limit), total: all.length }
      },
    }
    const ids = async (most: number) => (await firstAgents(client, most)).agents.length
    assert.equal([await ids(20), await ids(500), await ids(150)], [20, 250, 150])
    assert.equal(asked, [20, 100, 100, 100, 100, 50])
    assert.is((await firstAgents(client, 20)).total, 250)
  })
})
