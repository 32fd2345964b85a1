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
