import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { limitsOf } from '../../bridge/src/server/limits.ts'
import { toErrorInfo } from '../../../src/protocol/errors.ts'
import { Exchange } from '../src/exchange.ts'
import type { Chats, Opened } from '../src/openChat.ts'
import { overSocket } from '../src/overSocket.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A thread in which nothing has happened yet. */
function threadOf() {
  const state = { views: new Set<{ abort(): void }>(), releases: 0 }
  const thread = {
    agent: { id: 'chat', durable: () => undefined, children: () => [] },
    fold: { called: [], previewOf: () => undefined },
    exchange: undefined,
    isWaiting: false,
    add: (view: { abort(): void }) => void state.views.add(view),
    remove: (view: { abort(): void }) => void state.views.delete(view),
    release: () => void (state.releases += 1),
  }
  return { state, thread }
}

/** A client with a socket, and chats that open when the case says so. */
function talked({ subscriptions = 3 } = {}) {
  const clock = simulatedClock()
  const sent: { type: string; requestId: string; errorText?: string; sequence?: number; chunk?: { type: string } }[] =
    []
  let [take, leave] = [(_: string): void => {}, (): void => {}]
  const socket = {
    bufferedAmount: 0,
    send: (text: string, done?: () => void) => {
      sent.push(JSON.parse(text) as (typeof sent)[number])
      done?.()
    },
    close: () => {},
    onText: (listener: typeof take) => void (take = listener),
    onClose: (listener: () => void) => void (leave = listener),
  }
  const asked: (PromiseWithResolvers<Opened | undefined> & { readonly what: string })[] = []
  const ask = (what: string): Promise<never> => {
    const one = { ...Promise.withResolvers<Opened | undefined>(), what }
    asked.push(one)
    return one.promise as Promise<never>
  }
  const chats = {
    open: (_: unknown, { id }: { readonly id: string }) => ask(`open ${id}`),
    resume: (_: unknown, id: string) => ask(`resume ${id}`),
    stop: (_: unknown, id: string) => ask(`stop ${id}`),
  } as unknown as Chats
  const access = {
    clock,
    limits: limitsOf({ subscriptions }),
    outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
  } as unknown as AgentAccess
  overSocket(socket, access, chats)
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'x' }] }]
  return {
    clock,
    sent,
    asked,
    leave: () => leave(),
    say: (frame: object) => take(JSON.stringify(frame)),
    send: (requestId: string, id = 'chat') => take(JSON.stringify({ type: 'send', requestId, id, messages })),
    resume: (requestId: string, id = 'chat') => take(JSON.stringify({ type: 'resume', requestId, id })),
    abort: (requestId: string) => take(JSON.stringify({ type: 'abort', requestId })),
    kinds: () =>
      sent.map(({ type, requestId, chunk }) =>
        [type, requestId, ...(chunk === undefined ? [] : [chunk.type])].join(' '),
      ),
  }
}

const opened = (thread: unknown): Opened => ({ thread, requestId: 'm1' }) as unknown as Opened

describe('chats over one socket', (it) => {
  it('are answered by numbered chunks, until the answer has ended', async () => {
    const { send, asked, kinds, sent } = talked()
    send('r1')
    const { thread, state } = threadOf()
    asked[0]!.resolve(opened(thread))
    await turns()
    assert.equal(
      [asked[0]!.what, kinds(), state.releases, state.views.size],
      ['open chat', ['start r1', 'chunk r1 start'], 1, 1],
    )
    for (const view of state.views) view.abort()
    assert.equal(kinds().slice(2), ['chunk r1 abort', 'chunk r1 finish', 'end r1'])
    assert.equal(
      sent.flatMap(({ sequence }) => sequence ?? []),
      [0, 1, 2],
    )
  })

  it('have their id again once they have ended', async () => {
    const { send, asked, kinds } = talked({ subscriptions: 1 })
    for (let round = 0; round < 2; round += 1) {
      send('r1')
      const { thread, state } = threadOf()
      asked[round]!.resolve(opened(thread))
      await turns()
      for (const view of state.views) view.abort()
    }
    assert.is(kinds().filter((kind) => kind === 'end r1').length, 2)
  })

  it('are answered from what is past, or not at all where nothing is under way', async () => {
    const { resume, asked, kinds } = talked({ subscriptions: 1 })
    resume('r1')
    asked[0]!.resolve(undefined)
    await turns()
    assert.equal(kinds(), ['no-active r1'])
    resume('r2')
    const past = new Exchange('chat', 'm1', 0)
    past.endRun({ stopReason: 'stop', usage: {}, costUsd: 0 } as never)
    asked[1]!.resolve({ past })
    await turns()
    assert.equal([kinds()[1], kinds().at(-1)], ['start r2', 'end r2'])
    resume('r3')
    assert.is(asked.length, 3)
  })

  it('are refused with why, and their id is free again', async () => {
    const { send, asked, sent, kinds } = talked({ subscriptions: 1 })
    send('r1')
    asked[0]!.reject(new RuntimeError('BRIDGE_FORBIDDEN', 'Not you.'))
    await turns()
    assert.equal(kinds(), ['error r1'])
    assert.match(sent[0]!.errorText!, 'Not you.')
    send('r1')
    assert.is(asked.length, 2)
  })

  it('are refused by an id that is in use, above the most allowed, and with an id that is none', async () => {
    const { send, resume, asked, sent } = talked({ subscriptions: 2 })
    send('r1')
    send('r1')
    resume('r2', '../x')
    send('r3')
    send('r4')
    await turns()
    assert.equal(
      sent.map(({ requestId }) => requestId),
      ['r1', 'r2', 'r4'],
    )
    for (const [at, words] of ['in use', '../x', '2 requests'].entries()) assert.match(sent[at]!.errorText!, words)
    assert.is(asked.length, 2)
    // The one that was refused for its id does not end the one that has it.
    const { thread } = threadOf()
    asked[0]!.resolve(opened(thread))
    await turns()
    assert.is(sent.at(-1)?.chunk?.type, 'start')
  })

  it('are stopped 100 ms after who asked wants no more, unless the same chat is asked for again', async () => {
    for (const [again, stops] of [
      [undefined, true],
      ['chat', false],
      ['another', true],
    ] as const) {
      const { send, abort, resume, asked, clock, kinds } = talked()
      send('r1')
      const { thread, state } = threadOf()
      asked[0]!.resolve(opened(thread))
      await turns()
      const before = kinds().length
      abort('r1')
      assert.is(state.views.size, 0)
      if (again !== undefined) resume('r2', again)
      await clock.advance(99)
      assert.is(
        asked.some(({ what }) => what.startsWith('stop')),
        false,
      )
      await clock.advance(1)
      assert.is(asked.at(-1)?.what === 'stop chat', stops, again)
      assert.is(kinds().length, before)
      abort('r1')
      assert.is(clock.pending, 0)
    }
  })

  it('tell who wanted them stopped why they were not', async () => {
    const { send, abort, asked, clock, sent } = talked()
    send('r1')
    const { thread } = threadOf()
    asked[0]!.resolve(opened(thread))
    await turns()
    abort('r1')
    await clock.advance(100)
    asked[1]!.reject(new RuntimeError('BRIDGE_FORBIDDEN', 'Not you.'))
    await turns()
    assert.equal([sent.at(-1)?.type, sent.at(-1)?.requestId], ['error', 'r1'])
    assert.match(sent.at(-1)!.errorText!, 'Not you.')
  })

  it('that were aborted before they were open are not shown, and hold nothing', async () => {
    const { send, abort, asked, kinds } = talked()
    send('r1')
    abort('r1')
    const { thread, state } = threadOf()
    asked[0]!.resolve(opened(thread))
    await turns()
    assert.equal([kinds(), state.releases, state.views.size], [[], 1, 0])
    send('r2')
    abort('r2')
    asked[1]!.resolve({ past: new Exchange('chat', 'm1', 0) })
    await turns()
    assert.equal(kinds(), [])
  })

  it('end with their socket: nothing is stopped, said or held', async () => {
    const { send, abort, leave, asked, kinds, clock } = talked()
    send('r1')
    const first = threadOf()
    asked[0]!.resolve(opened(first.thread))
    await turns()
    send('r2')
    send('r3')
    const count = kinds().length
    abort('r3')
    leave()
    assert.is(first.state.views.size, 0)
    const second = threadOf()
    asked[1]!.resolve(opened(second.thread))
    asked[2]!.reject(new Error('late'))
    await clock.advance(100)
    await turns()
    assert.equal([kinds().length, second.state.releases, second.state.views.size], [count, 1, 0])
    assert.is(asked.length, 3)
  })
})
