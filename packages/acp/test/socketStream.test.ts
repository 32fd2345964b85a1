import { socketStream } from '../src/acp.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** A stream over a socket of which the case says what comes and what has left. */
function streamed() {
  const [sent, closed]: [string[], number[]] = [[], []]
  const left: (() => void)[] = []
  let [take, leave] = [(_: string): void => {}, (): void => {}]
  const socket = {
    bufferedAmount: 0,
    send: (text: string, done?: () => void) => {
      sent.push(text)
      if (done !== undefined) left.push(done)
    },
    close: (code: number) => void closed.push(code),
    onText: (listener: typeof take) => void (take = listener),
    onClose: (listener: () => void) => void (leave = listener),
  }
  const { readable, writable } = socketStream(socket, { highWaterBytes: 100, depth: 3 })
  const say = (text: string): void => take(text)
  return {
    socket,
    sent,
    closed,
    left,
    say,
    leave: () => leave(),
    reader: readable.getReader(),
    writer: writable.getWriter(),
  }
}
const codes = (sent: readonly string[]): unknown[] =>
  sent.map((text) => (JSON.parse(text) as { error: { code: number } }).error.code)

describe('a socket as a stream of ACP', (it) => {
  it('gives messages in order, answers what is none, and goes on', async () => {
    const { say, reader, sent } = streamed()
    for (const text of ['{"n":1}', '{', '[[[[1]]]]', '[[[2]]]']) say(text)
    assert.equal((await reader.read()).value, { n: 1 })
    assert.equal((await reader.read()).value, [[[2]]] as never)
    assert.equal(codes(sent), [-32_700, -32_600])
  })

  it('ends with its client, once, and hears nothing after that', async () => {
    const { say, leave, reader, sent } = streamed()
    leave()
    leave()
    say('{"n":1}')
    say('{')
    assert.equal([await reader.read(), sent], [{ done: true, value: undefined }, []])
  })

  it('closes the socket when nobody reads any more, and hears nothing after that', async () => {
    const { say, leave, reader, closed, sent } = streamed()
    await reader.cancel()
    say('{"n":1}')
    say('{')
    leave()
    assert.equal([closed, sent], [[1_000], []])
  })

  it('has a writer wait while more is on its way than may be', async () => {
    const { socket, writer, sent, left } = streamed()
    socket.bufferedAmount = 100
    await writer.write({ n: 1 } as never)
    socket.bufferedAmount = 101
    let isWritten = false
    const written = writer.write({ n: 2 } as never).then(() => (isWritten = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal([sent, isWritten], [['{"n":1}', '{"n":2}'], false])
    for (const done of left) done()
    assert.is(await written, true)
  })
})
