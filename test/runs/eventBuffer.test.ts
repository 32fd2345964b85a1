import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { EventBuffer } from '../../src/protocol/runs/eventBuffer.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const at = { agentId: 'a1', path: [], seq: 1, time: 0, runId: 'a1/r0', turnIndex: 0 }
const progress = (n: unknown): AgentEvent => ({ ...at, type: 'tool.progress', callId: 'c', name: 'x', progress: n })
const text = (words: string, offset: number, turnIndex = 0): AgentEvent => ({
  ...at,
  type: 'reply.delta',
  text: words,
  offset,
  turnIndex,
})

const collect = (): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

describe('an event buffer', (it) => {
  it('hands events on in order, before and after they come', async () => {
    const buffer = new EventBuffer()
    buffer.push(progress(1))
    assert.equal((await buffer.next()).value, progress(1))
    const next = buffer.next()
    buffer.push(progress(2))
    assert.equal((await next).value, progress(2))
    buffer.push(progress(3))
    buffer.close()
    assert.equal((await buffer.next()).value, progress(3))
    assert.is((await buffer.next()).done, true)
  })

  it('serves every reader that waits, and ends them all when it is closed', async () => {
    const buffer = new EventBuffer()
    const waiting = [buffer.next(), buffer.next(), buffer.next()]
    buffer.push(progress(1))
    buffer.push(progress(2))
    buffer.close()
    const ends = await Promise.all(waiting)
    assert.equal(ends.filter(({ done }) => done === true).length, 1)
  })

  it('ends every reader that waits when it is closed or left', async () => {
    for (const end of ['close', 'return'] as const) {
      const buffer = new EventBuffer()
      const waiting = [buffer.next(), buffer.next(), buffer.next()]
      await buffer[end]()
      assert.equal(
        (await Promise.all(waiting)).map(({ done }) => done),
        [true, true, true],
      )
    }
  })

  it('joins neighbouring deltas of a slow reader without losing a character', async () => {
    const buffer = new EventBuffer()
    for (let n = 0; n < 10_000; n += 1) buffer.push(text('ab', 2 * n))
    buffer.close()
    let whole = ''
    let events = 0
    for await (const event of buffer) {
      assert.ok(event.type === 'reply.delta' && event.offset === whole.length)
      whole += event.type === 'reply.delta' ? event.text : ''
      events += 1
    }
    assert.is(whole, 'ab'.repeat(10_000))
    assert.ok(events <= 300)
  })

  it('joins them sooner while nobody has begun to read, and changes no event that others hold', async () => {
    const given = Array.from({ length: 200 }, (_, n) => text('ab', 2 * n))
    const unread = new EventBuffer()
    const read = new EventBuffer()
    read.push(progress(0))
    await read.next()
    for (const event of given) for (const buffer of [unread, read]) buffer.push(event)
    const rest = async (buffer: EventBuffer) => {
      buffer.close()
      const events: AgentEvent[] = []
      for await (const event of buffer) events.push(event)
      return events
    }
    assert.equal(await rest(read), given)
    const joined = await rest(unread)
    assert.is(joined.length, 32)
    assert.equal(joined.at(-1), text('ab'.repeat(169), 62))
    assert.equal(
      given,
      Array.from({ length: 200 }, (_, n) => text('ab', 2 * n)),
    )
  })

  it('never changes an event that was read', async () => {
    const buffer = new EventBuffer()
    for (let n = 0; n < 40; n += 1) buffer.push(text('a', n))
    const seen: AgentEvent[] = []
    for (let n = 0; n < 32; n += 1) seen.push((await buffer.next()).value!)
    for (let n = 40; n < 50; n += 1) buffer.push(text('a', n))
    assert.equal(seen.at(-1), text('a'.repeat(9), 31))
    assert.equal((await buffer.next()).value, text('a', 40))
  })

  it('never joins deltas of two attempts or two turns', async () => {
    const buffer = new EventBuffer()
    for (let n = 0; n < 300; n += 1) buffer.push(progress(n))
    buffer.push(text('a', 0))
    buffer.push(text('b', 0))
    buffer.push(text('c', 1, 1))
    buffer.close()
    const texts: string[] = []
    for await (const event of buffer) if (event.type === 'reply.delta') texts.push(event.text)
    assert.equal(texts, ['a', 'b', 'c'])
  })

  it('drops the oldest beyond its limit, says how many, and goes on in order', async () => {
    const buffer = new EventBuffer()
    for (let n = 0; n < 5_000; n += 1) buffer.push(progress(n))
    const first = (await buffer.next()).value
    assert.ok(first?.type === 'events.dropped')
    const { count } = first
    assert.is(count, 5_000 - 4_096)
    const second = (await buffer.next()).value
    assert.ok(second?.type === 'tool.progress' && second.progress === count)
  })

  it('lets go of what it has dropped', { timeoutMs: 10_000 }, async () => {
    const gc = collect()
    const buffer = new EventBuffer()
    const refs: WeakRef<object>[] = []
    for (let n = 0; n < 20_000; n += 1) {
      const payload = { n }
      if (n < 100) refs.push(new WeakRef(payload))
      buffer.push(progress(payload))
    }
    await quiet()
    gc()
    await quiet()
    gc()
    assert.is(refs.filter((ref) => ref.deref() !== undefined).length, 0)
    assert.is((await buffer.next()).value?.type, 'events.dropped')
  })

  it('lets go of what was read', { timeoutMs: 10_000 }, async () => {
    const gc = collect()
    const buffer = new EventBuffer()
    const refs: WeakRef<object>[] = []
    for (let n = 0; n < 4_000; n += 1) {
      const payload = { n }
      refs.push(new WeakRef(payload))
      buffer.push(progress(payload))
    }
    for (let n = 0; n < 3_999; n += 1) await buffer.next()
    await quiet()
    gc()
    const alive = refs.slice(0, 2_000).filter((ref) => ref.deref() !== undefined).length
    assert.is(alive, 0)
  })

  it('that is left tells so once, and is over', async () => {
    let left = 0
    const buffer = new EventBuffer(() => (left += 1))
    buffer.push(progress(1))
    await buffer.return()
    buffer.push(progress(2))
    assert.is((await buffer.next()).done, true)
    assert.is(left, 1)
  })
})
