import { createActor, fromPromise, initialTransition, transition } from 'xstate'
import {
  mcpConnectionMachine,
  type ConnectionEvent,
  type Lost,
  type Opened,
} from '../../src/client/connectionMachine.ts'
import { chart } from '../../../charts/src/chart.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const restart = { maxRestarts: 2, windowMs: 1_000, backoffMs: 10, maxBackoffMs: 15 }
const input = { restart }
type Event = ConnectionEvent | { readonly type: string; readonly output?: unknown; readonly actorId?: string }

const doneOf = (id: string, output?: unknown): Event => ({ type: `xstate.done.actor.${id}`, output, actorId: id })
const opened = (output: Opened): Event => doneOf('open', output)
const up = opened({ type: 'up' })
const refused = (at: number, next: 'retry' | 'wait' | 'signIn' = 'retry'): Event =>
  opened({ type: 'refused', at, why: `refused at ${at}`, next })
const lost = (at: number): Event => doneOf('watch', { at, why: `lost at ${at}` } satisfies Lost)
const wanted = (at = 0): Event => ({ type: 'wanted', at })

/** Where these events lead, and what is remembered there. No effect runs. */
function after(...events: readonly Event[]) {
  let [snapshot] = initialTransition(mcpConnectionMachine, input)
  for (const event of events) [snapshot] = transition(mcpConnectionMachine, snapshot, event as ConnectionEvent)
  return { value: snapshot.value, ...snapshot.context }
}

describe('the life of a connection', (it) => {
  it('begins when somebody needs it, and not before', () => {
    assert.equal(after().value, 'idle')
    assert.equal(after(wanted()).value, 'opening')
    assert.equal(after(wanted(), wanted(), up).value, { up: 'steady' })
  })

  it('waits longer after each loss, up to a limit', () => {
    const first = after(wanted(), up, lost(100))
    assert.equal([first.value, first.retryAt, first.why], ['backoff', 110, 'lost at 100'])
    const second = after(wanted(), up, lost(100), doneOf('sleep'), refused(200))
    assert.equal([second.value, second.retryAt], ['backoff', 215])
    const again = after(wanted(), up, lost(100), doneOf('sleep'), up)
    assert.equal([again.value, again.why], [{ up: 'steady' }, null])
  })

  it('is given up after too many losses in a time, until that time has passed', () => {
    const failed = [wanted(), up, lost(100), doneOf('sleep'), refused(200), doneOf('sleep'), refused(300)]
    assert.equal(after(...failed).value, 'failed')
    assert.equal(after(...failed, wanted(1_299)).value, 'failed')
    assert.equal(after(...failed, wanted(1_300)).value, 'opening')
    // Losses of long ago do not count.
    assert.equal(
      after(wanted(), up, lost(100), doneOf('sleep'), up, lost(900), doneOf('sleep'), up, lost(1_150)).value,
      'backoff',
    )
  })

  it('is not tried again for what no restart changes', () => {
    assert.equal(after(wanted(), refused(100, 'wait')).value, 'failed')
    assert.equal(after(wanted(), refused(100, 'wait'), wanted(200)).value, 'failed')
  })

  it('waits for a person to sign in, however long', () => {
    const signedOut = [wanted(), refused(100, 'signIn')]
    assert.equal(after(...signedOut).value, 'failed')
    assert.equal(after(...signedOut, wanted(1_000_000)).value, 'failed')
    assert.equal(after(...signedOut, { type: 'signed.in' }).value, 'opening')
    assert.equal(after(...signedOut, { type: 'signed.in' }, refused(2_000, 'wait'), wanted(9_000)).value, 'opening')
    const nobody = (at: number): Event => ({ type: 'wanted', at, isSignInOver: true })
    assert.equal(after(...signedOut, nobody(1_099)).value, 'failed')
    assert.equal(after(...signedOut, nobody(1_100)).value, 'opening')
  })

  it('lists again when the list changed while it was fetched', () => {
    const changed: Event = { type: 'list.changed' }
    assert.equal(after(wanted(), up, changed).value, { up: 'listing' })
    assert.equal(after(wanted(), up, changed, doneOf('list')).value, { up: 'steady' })
    const twice = [wanted(), up, changed, changed, changed, doneOf('list')]
    assert.equal(after(...twice).value, { up: 'listing' })
    assert.equal(after(...twice, doneOf('list')).value, { up: 'steady' })
    assert.equal(after(wanted(), up, changed, lost(100)).value, 'backoff')
  })

  it('lists again when the list changed while it was opened', () => {
    const changed: Event = { type: 'list.changed' }
    assert.equal(after(wanted(), changed, up).value, { up: 'listing' })
    assert.equal(after(wanted(), changed, up, doneOf('list')).value, { up: 'steady' })
    // What was announced in a connection that is gone is in the list of the next one.
    assert.equal(after(wanted(), up, changed, changed, lost(100), doneOf('sleep'), up).value, { up: 'steady' })
  })

  it('rests between the lists of a server that announces a change with each', () => {
    const changed: Event = { type: 'list.changed' }
    const listed: readonly Event[] = [changed, doneOf('list')]
    const often = [wanted(), up, changed, ...listed, ...listed, ...listed]
    assert.equal(after(...often).value, { up: 'listing' })
    assert.equal(after(...often, ...listed).value, { up: 'resting' })
    assert.equal(after(...often, ...listed, changed).value, { up: 'resting' })
    assert.equal(after(...often, ...listed, doneOf('rest')).value, { up: 'listing' })
    assert.equal(after(...often, ...listed, doneOf('rest'), ...listed).value, { up: 'resting' })
    const quiet = [...often, ...listed, doneOf('rest'), doneOf('list')]
    assert.equal(after(...quiet).value, { up: 'steady' })
    assert.equal(after(...quiet, changed, ...listed).value, { up: 'listing' })
    assert.equal(after(...often, ...listed, lost(100)).value, 'backoff')
  })

  it('can be closed wherever it is', () => {
    const places: readonly (readonly Event[])[] = [
      [],
      [wanted()],
      [wanted(), up],
      [wanted(), up, { type: 'list.changed' }],
      [wanted(), up, lost(1)],
      [wanted(), refused(1, 'wait')],
    ]
    for (const events of places) {
      const closing = [...events, { type: 'close' }] as const
      assert.equal(after(...closing).value, 'closing')
      assert.equal(after(...closing, { type: 'close' }, wanted(9_999_999), { type: 'signed.in' }).value, 'closing')
      assert.equal(after(...closing, doneOf('shut')).value, 'closed')
    }
  })

  it('says what is missing where nobody provides its effects, and can be drawn', async () => {
    const actor = createActor(mcpConnectionMachine.provide({ actors: { shut: fromPromise(async () => {}) } }), {
      input,
    })
    const errors: unknown[] = []
    actor.subscribe({ error: (error) => void errors.push(error) })
    actor.start()
    actor.send({ type: 'wanted', at: 0 })
    await new Promise((resolve) => void setImmediate(resolve))
    assert.match(String(errors[0]), /Nobody provided the effect open/)
    const drawn = chart(mcpConnectionMachine, { format: 'mermaid' })
    for (const state of ['idle', 'opening', 'listing', 'backoff', 'failed', 'closing', 'closed'])
      assert.ok(drawn.includes(state))
  })
})
