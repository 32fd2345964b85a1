import { AwayAgents } from '../../src/client/awayAgents.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { Outgoing } from '../../src/client/outgoing.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const limits = { maxFrameBytes: 1_000_000, framesPerSecond: 10_000, maxSubscriptions: 10 }

describe('commands on their way', (it) => {
  it('lose no place to those that were released while they were sent again', () => {
    const sent: string[] = []
    const outgoing = new Outgoing(simulatedClock(), (text) => sent.push((JSON.parse(text) as { id: string }).id))
    const ask = (number: number): void =>
      outgoing.ask(
        { number, frame: { type: 'agent.abort', agentId: 'a' }, answered: () => {}, refused: () => {} },
        true,
      )
    const numbers = Array.from({ length: 32 }, (_, index) => index + 1)
    outgoing.opened(limits, () => {})
    for (const number of numbers) ask(number)
    for (const number of numbers) outgoing.answered(`c${number}`, null)
    outgoing.lost()
    outgoing.opened(limits, () => {})
    assert.is(sent.length, 64)
    for (const number of numbers) outgoing.release(number)
    for (const number of numbers) outgoing.answered(`c${number}`, null)
    ask(33)
    assert.equal(sent.slice(64), ['c33'])
    // What was released and answered is not sent again.
    outgoing.lost()
    outgoing.opened(limits, () => {})
    assert.equal(sent.slice(65), ['c33'])
  })

  it('to an agent that cannot be reached are sent again after a while, in their order, before any asked since', async () => {
    const clock = simulatedClock()
    const sent: string[] = []
    const told: unknown[] = []
    const away = new AwayAgents((why) => told.push(why?.code))
    const outgoing = new Outgoing(clock, (text) => sent.push((JSON.parse(text) as { id: string }).id), away)
    const refusals: string[] = []
    const ask = (number: number, agentId: string): void =>
      outgoing.ask({
        number,
        frame: { type: 'agent.abort', agentId },
        answered: () => {},
        refused: ({ code }) => refusals.push(code),
      })
    outgoing.opened(limits, () => {})
    ask(1, 'a')
    ask(2, 'a')
    const gone = new RuntimeError('AGENT_UNREACHABLE', 'It is away.')
    for (const id of ['c1', 'c2']) outgoing.refused(id, gone)
    ask(3, 'a')
    ask(4, 'b')
    assert.equal([sent, told], [['c1', 'c2', 'c4'], ['AGENT_UNREACHABLE']])
    await clock.advance(500)
    assert.equal(sent.slice(3), ['c1', 'c2', 'c3'])
    outgoing.answered('c4', null)
    assert.is(told.length, 1)
    for (const id of ['c1', 'c2', 'c3']) outgoing.answered(id, null)
    assert.equal([told, refusals], [['AGENT_UNREACHABLE', undefined], []])
    // A connection that breaks meanwhile loses nothing, and leaves no timer.
    ask(5, 'a')
    outgoing.refused('c5', gone)
    outgoing.lost()
    assert.is(clock.pending, 0)
    outgoing.opened(limits, () => {})
    assert.is(sent.at(-1), 'c5')
    outgoing.refused('c5', new RuntimeError('AGENT_NOT_FOUND', 'There is none.'))
    assert.equal(refusals, ['AGENT_NOT_FOUND'])
  })

  it('are never so many that a connection which stood still delivers more of them at once than the server takes', async () => {
    const clock = simulatedClock()
    const framesPerSecond = 100
    let [sent, delivered] = [0, 0]
    const outgoing = new Outgoing(clock, () => (sent += 1))
    outgoing.opened({ ...limits, framesPerSecond }, () => {})
    for (let number = 1; number <= 500; number += 1)
      outgoing.ask({ number, frame: { type: 'agent.abort', agentId: 'a' }, answered: () => {}, refused: () => {} })
    const deliver = (most = Infinity): void => {
      while (delivered < Math.min(sent, most)) outgoing.answered(`c${(delivered += 1)}`, null)
    }
    // It stands still for three seconds; with the first command that comes through a second of the client begins, soon after one of the server.
    await clock.advance(3_000)
    deliver(1)
    for (let ms = 0; ms < 999; ms += 1) {
      await clock.advance(1)
      deliver()
    }
    await clock.advance(1)
    deliver()
    assert.ok(delivered > 1 && delivered - 1 <= framesPerSecond, String(delivered))
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000)
      deliver()
    }
    assert.is(delivered, 500)
  })

  it('that were put off leave their places to others', () => {
    const sent: string[] = []
    const outgoing = new Outgoing(simulatedClock(), (text) => sent.push((JSON.parse(text) as { id: string }).id))
    const ask = (number: number, agentId: string): void =>
      outgoing.ask({ number, frame: { type: 'agent.abort', agentId }, answered: () => {}, refused: () => {} })
    outgoing.opened(limits, () => {})
    for (let number = 1; number <= 32; number += 1) ask(number, `away-${number}`)
    ask(33, 'there')
    assert.is(sent.length, 32)
    for (let number = 1; number <= 32; number += 1)
      outgoing.refused(`c${number}`, new RuntimeError('AGENT_UNREACHABLE', 'It is away.'))
    for (let number = 34; number <= 64; number += 1) ask(number, 'there')
    assert.equal(
      sent.slice(32),
      Array.from({ length: 32 }, (_, at) => `c${at + 33}`),
    )
  })

  it('of a connection that is lost are not sent on the next one, those that had to wait neither', () => {
    const sent: string[] = []
    const outgoing = new Outgoing(simulatedClock(), (text) => sent.push((JSON.parse(text) as { id: string }).id))
    const ask = (number: number, isOfConnection: boolean): void =>
      outgoing.ask({
        number,
        frame: { type: 'agent.abort', agentId: 'a' },
        ...(isOfConnection ? { isOfConnection } : {}),
        answered: () => {},
        refused: () => {},
      })
    outgoing.opened(limits, () => {})
    for (let number = 1; number <= 40; number += 1) ask(number, number % 2 === 0)
    assert.is(sent.length, 32, 'more are not under way at once')
    outgoing.lost()
    sent.length = 0
    outgoing.opened(limits, () => ask(41, true))
    const others = Array.from({ length: 20 }, (_, at) => `c${at * 2 + 1}`)
    assert.equal(sent, ['c41', ...others])
  })

  it('are refused where JSON cannot hold them, and those behind them are sent', () => {
    const sent: string[] = []
    const outgoing = new Outgoing(simulatedClock(), (text) => sent.push((JSON.parse(text) as { id: string }).id))
    let deep: unknown = 1
    for (let level = 0; level < 50_000; level += 1) deep = [deep]
    const circle: unknown[] = []
    circle.push(circle)
    const refusals: string[] = []
    for (const [index, value] of [deep, circle, 1n].entries())
      outgoing.ask(
        {
          number: index + 1,
          frame: { type: 'agent.decide', agentId: 'a', callId: 'c', decision: 'answer', value },
          answered: () => {},
          refused: ({ code, message }) => refusals.push(`${code}: ${message}`),
        },
        false,
      )
    outgoing.ask(
      { number: 4, frame: { type: 'agent.abort', agentId: 'a' }, answered: () => {}, refused: () => {} },
      false,
    )
    outgoing.opened(limits, () => {})
    assert.is(refusals.length, 3)
    for (const refusal of refusals) assert.match(refusal, /^INVALID_OPTION: "agent.decide" holds what JSON cannot/)
    assert.equal(sent, ['c4'])
  })
})

const gone = new RuntimeError('AGENT_UNREACHABLE', 'It is away.')
const missing = new RuntimeError('AGENT_NOT_FOUND', 'There is none.')

/** Commands to agents, and what became of them; `take`: those that were sent since the last look. */
function asking({ framesPerSecond = 10_000 }: { readonly framesPerSecond?: number } = {}) {
  const clock = simulatedClock()
  const sent: string[] = []
  const ends: string[] = []
  const outgoing = new Outgoing(clock, (text) => sent.push((JSON.parse(text) as { id: string }).id))
  const opens = (): void => outgoing.opened({ ...limits, framesPerSecond }, () => {})
  return {
    clock,
    outgoing,
    ends,
    opens,
    take: (): string[] => sent.splice(0),
    ask: (number: number, agentId = 'a', isKept = false): void =>
      outgoing.ask(
        {
          number,
          frame: { type: 'agent.abort', agentId },
          answered: () => void ends.push(`c${number} answered`),
          refused: ({ code }) => void ends.push(`c${number} ${code}`),
        },
        isKept,
      ),
    reopens(): void {
      outgoing.lost()
      opens()
    },
  }
}

describe('commands of a client whose connection broke', (it) => {
  it('are sent no faster than before, and no slower', async () => {
    const { clock, take, ask, opens, reopens } = asking({ framesPerSecond: 10 })
    opens()
    for (let number = 1; number <= 6; number += 1) ask(number)
    assert.equal(take(), ['c1', 'c2', 'c3', 'c4'])
    await clock.advance(500)
    reopens()
    assert.equal(take(), ['c1', 'c2', 'c3', 'c4'])
    // The second of the connection before is over, and was another.
    await clock.advance(500)
    assert.equal(take(), [])
    await clock.advance(500)
    assert.equal(take(), ['c5', 'c6'])
    await clock.advance(1_000)
    assert.is(clock.pending, 0)
  })

  it('go on at one a second where the server allows less than that', async () => {
    const { clock, take, ask, opens } = asking({ framesPerSecond: 1 })
    opens()
    for (let number = 1; number <= 3; number += 1) ask(number)
    const seen = [take()]
    for (let second = 0; second < 2; second += 1) {
      await clock.advance(1_000)
      seen.push(take())
    }
    assert.equal(seen, [['c1'], ['c2'], ['c3']])
  })

  it('are put off no longer than it lasted, with those that are asked then', () => {
    const { clock, outgoing, take, ask, opens, reopens } = asking()
    opens()
    ask(1)
    outgoing.refused('c1', gone)
    reopens()
    assert.is(clock.pending, 1)
    ask(2)
    assert.equal(take(), ['c1', 'c1', 'c2'])
  })

  it('are put off and tried again as often as it takes, each agent for itself', async () => {
    const { clock, outgoing, take, ask, opens, ends } = asking()
    opens()
    ask(1, 'a')
    outgoing.refused('c1', gone)
    await clock.advance(250)
    ask(2, 'b')
    outgoing.refused('c2', gone)
    take()
    const seen: unknown[] = []
    for (let tries = 0; tries < 4; tries += 1) {
      await clock.advance(250)
      for (const id of take()) {
        seen.push(id)
        outgoing.refused(id, gone)
      }
    }
    assert.equal(seen, ['c1', 'c2', 'c1', 'c2'])
    assert.equal(ends, [])
  })

  it('go in the order of their numbers, not in that in which they became due', async () => {
    const { clock, outgoing, take, ask, opens, reopens } = asking()
    opens()
    ask(2)
    ask(1)
    for (const id of take()) outgoing.refused(id, gone)
    await clock.advance(500)
    assert.equal(take(), ['c1', 'c2'])
    reopens()
    assert.equal(take(), ['c1', 'c2'])
  })

  it('wait behind one to the same agent that was put off, though they were never sent', async () => {
    const { clock, outgoing, take, ask, opens } = asking({ framesPerSecond: 5 })
    opens()
    ask(1, 'a')
    ask(2, 'b')
    ask(3, 'a')
    ask(4, 'b')
    assert.equal(take(), ['c1', 'c2'])
    outgoing.refused('c1', gone)
    await clock.advance(1_000)
    assert.equal(take(), ['c4', 'c1'])
    await clock.advance(1_000)
    assert.equal(take(), ['c3'])
  })

  it('that were put off together leave no timer behind', () => {
    const { clock, outgoing, ask, opens } = asking()
    opens()
    for (const number of [1, 2, 3]) ask(number)
    for (const number of [1, 2, 3]) outgoing.refused(`c${number}`, gone)
    outgoing.lost()
    assert.is(clock.pending, 0)
  })

  it('are never more than 32 at once, however often one is answered, refused or put off', () => {
    const { outgoing, take, ask, opens } = asking()
    opens()
    ask(1, 'a', true)
    for (let times = 0; times < 2; times += 1) outgoing.answered('c1', null)
    ask(2, 'away')
    for (let times = 0; times < 2; times += 1) outgoing.refused('c2', gone)
    take()
    for (let number = 3; number <= 35; number += 1) ask(number, number === 35 ? 'b' : 'a')
    assert.is(take().length, 32)
    // A place becomes free, and who waits has it at once.
    outgoing.refused('c3', gone)
    assert.equal(take(), ['c35'])
  })

  it('may not be known yet by a server that has just begun again, for a while after each connection', async () => {
    const { clock, outgoing, take, ask, opens, reopens, ends } = asking()
    opens()
    ask(1, 'a', true)
    outgoing.answered('c1', null)
    // Twice: what was taken stays so, also when the connection before brought no answer.
    for (let times = 0; times < 2; times += 1) {
      await clock.advance(60_000)
      reopens()
    }
    outgoing.refused('c1', missing)
    assert.equal(ends, ['c1 answered'])
    await clock.advance(9_999)
    take()
    outgoing.refused('c1', missing)
    await clock.advance(500)
    assert.equal([take(), ends], [['c1'], ['c1 answered']])
    outgoing.refused('c1', missing)
    assert.equal(ends, ['c1 answered', 'c1 AGENT_NOT_FOUND'])
    reopens()
    assert.equal(take(), [])
  })

  it('were never taken: one that is not known is refused at once', () => {
    const { outgoing, ask, opens, reopens, ends } = asking()
    opens()
    ask(1, 'a', true)
    reopens()
    outgoing.refused('c1', missing)
    assert.equal(ends, ['c1 AGENT_NOT_FOUND'])
  })

  it('make room for others by every end: an answer, a refusal, a text that is too long', () => {
    const { outgoing, take, ask, opens, ends } = asking()
    opens()
    for (let number = 1; number <= 34; number += 1) ask(number)
    assert.is(take().length, 32)
    outgoing.answered('c1', null)
    assert.equal(take(), ['c33'])
    outgoing.answered('c1', null)
    assert.equal([take(), ends], [[], ['c1 answered']])
    outgoing.refused('c2', missing)
    assert.equal(take(), ['c34'])
    outgoing.refused('c2', missing)
    assert.equal(ends, ['c1 answered', 'c2 AGENT_NOT_FOUND'])
  })

  it('are measured in bytes, and one that is too long holds up nobody', () => {
    const sent: string[] = []
    const refusals: string[] = []
    const outgoing = new Outgoing(simulatedClock(), (text) => sent.push((JSON.parse(text) as { id: string }).id))
    const bytes = (text: string): number =>
      new TextEncoder().encode(JSON.stringify({ type: 'agent.prompt', agentId: 'a', content: text, id: 'c1' })).length
    const most = bytes('x'.repeat(300))
    for (const [at, content] of [
      'ab',
      '字'.repeat(100),
      '字'.repeat(101),
      'x'.repeat(300),
      'x'.repeat(301),
      'c',
    ].entries())
      outgoing.ask({
        number: at + 1,
        frame: { type: 'agent.prompt', agentId: 'a', content },
        answered: () => {},
        refused: ({ code }) => void refusals.push(`c${at + 1} ${code}`),
      })
    outgoing.opened({ ...limits, maxFrameBytes: most }, () => {})
    assert.equal(sent, ['c1', 'c2', 'c4', 'c6'])
    assert.equal(refusals, ['c3 BRIDGE_LIMIT', 'c5 BRIDGE_LIMIT'])
    // What was refused is gone for good.
    outgoing.lost()
    outgoing.opened({ ...limits, maxFrameBytes: most }, () => {})
    assert.is(refusals.length, 2)
  })
})
