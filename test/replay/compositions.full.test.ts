import { replayCommand } from '../../tools/bench/replay/command.ts'
import { compare } from '../../tools/bench/replay/compare.ts'
import { generateSession } from '../../tools/bench/replay/generate/generateSession.ts'
import { costOf, prices } from '../../tools/bench/replay/measure/prices.ts'
import { compositionsFor, pinUsed } from '../../tools/bench/replay/policies/compositions.ts'
import { policiesFor } from '../../tools/bench/replay/policies/policies.ts'
import { replay } from '../../tools/bench/replay/replay.ts'
import { compositions } from '../../src/policies.ts'
import { assert, describe } from '../support/suite.ts'

const compactAt = 60_000
const asking = new Set(['layered', 'reviewed', 'hybrid'])

describe('replays of compositions', (it) => {
  it('lose nothing, say why each beginning changed, and bill what was asked', { timeoutMs: 60_000 }, async () => {
    const session = generateSession('opencode', 1, 120)
    const rows = await compare(session, compositionsFor(compactAt), 'anthropic')
    assert.equal(
      rows.map(({ policy }) => policy),
      ['none', 'fold-compaction', ...Object.keys(compositions)],
    )
    const base = rows[0]!.measures
    for (const { policy, measures, costX, peakX, askedShare, recalls } of rows) {
      const { failure, invalid, usersLost, breaks, asked } = measures
      assert.equal([policy, failure, invalid, usersLost, 'other' in breaks], [policy, undefined, 0, 0, false])
      if (policy === 'none') continue
      assert.ok(peakX < 0.8, policy)
      assert.is(asked.requests > 0, asking.has(policy), policy)
      const paid = [measures, asked].reduce((sum, tokens) => sum + costOf(tokens, prices['anthropic']!), 0)
      assert.ok(Math.abs(costX - paid / costOf(base, prices['anthropic']!)) < 1e-9, policy)
      assert.is(askedShare > 0.02, asking.has(policy), policy)
      assert.is(recalls === null, ['baseline', 'typedReverts'].includes(policy), policy)
      const isPolicy = !['fold-compaction', 'baseline', 'typedReverts'].includes(policy)
      assert.is(
        Object.keys(breaks).some((cause) => cause.startsWith('policy')),
        isPolicy,
        policy,
      )
    }
    const compacted = await compare(session, policiesFor(compactAt).slice(1, 2), 'anthropic')
    assert.is(rows.find(({ policy }) => policy === 'baseline')!.costX, compacted[0]!.costX)
  })

  it('have a reviewer read before it decides, and hide what it says', { timeoutMs: 20_000 }, async () => {
    const session = generateSession('opencode', 2, 100)
    const { asked, refused, requests } = await replay(session, (model) =>
      compositions.reviewed({ contextWindow: compactAt, model }),
    )
    const [first, second] = asked
    assert.ok(first!.reply.length > 0 && first!.reply.every((block) => block.type === 'toolCall'))
    assert.ok(second!.request.messages.some(({ role }) => role === 'toolResult'))
    assert.match(JSON.stringify(second!.reply), /hide/)
    assert.equal(refused, [])
    assert.ok(requests.some(({ causes }) => causes.includes('policy')))
  })

  it('pin no more than what is used, within their tokens', { timeoutMs: 20_000 }, async () => {
    const session = generateSession('opencode', 2, 100)
    const pins = new Set<number>()
    const script = pinUsed(session)
    await replay(
      session,
      { braking: { prune: true }, compaction: false },
      {
        beforeReply: (turn, request, agent) => {
          const reply = script.beforeReply?.(turn, request, agent)
          for (const id of agent.conversation.pins()) pins.add(id)
          return reply
        },
      },
    )
    assert.ok(pins.size > 0 && pins.size < 30)
  })

  it('are rows of the command', { timeoutMs: 20_000 }, async () => {
    const text = await replayCommand(['--generate', '20', '--compositions', '--policies', 'none,layered'])
    assert.match(text, /\| layered +\|/)
  })
})
