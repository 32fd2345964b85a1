import * as fc from 'fast-check'
import { socketPair } from '../../src/inProcess/socketPair.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** Both ends, and what each has heard. */
function pair() {
  const { client, server } = socketPair()
  const heard: string[] = []
  const closed: { readonly code: number; readonly reason: string }[] = []
  client.addEventListener('open', () => heard.push('open'))
  client.addEventListener('message', ({ data }: { readonly data: string }) => heard.push(`client ${data}`))
  client.addEventListener('close', (event: (typeof closed)[number]) => {
    heard.push('client close')
    closed.push(event)
  })
  server.on('message', (data, isBinary) => heard.push(`server ${data as string}${isBinary ? ' as bytes' : ''}`))
  server.on('pong', () => heard.push('pong'))
  server.on('close', () => heard.push('server close'))
  return { client, server, heard, closed }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await turn()
}
const nothing = (): void => {}

describe('a pair of sockets in this process', (it) => {
  it('opens in a later turn, and carries texts both ways', async () => {
    const { client, server, heard } = pair()
    assert.is(server.readyState, 1)
    assert.equal(heard, [])
    client.send('hello')
    server.send('welcome', nothing)
    assert.equal(heard, [])
    await turns(3)
    assert.equal(heard.toSorted(), ['client welcome', 'open', 'server hello'])
  })

  it('delivers whatever was sent in its order, each text in a turn of its own', async () => {
    const texts = fc.array(fc.record({ fromServer: fc.boolean(), text: fc.string() }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(texts, async (sent) => {
        const { client, server, heard } = pair()
        await turn()
        heard.length = 0
        for (const { fromServer, text } of sent) {
          if (fromServer) server.send(text, nothing)
          else client.send(text)
        }
        let before = 0
        for (let left = sent.length + 1; left > 0; left -= 1) {
          await turn()
          assert.ok(heard.length - before <= 2, 'more than one text of a direction came in one turn')
          before = heard.length
        }
        for (const fromServer of [true, false]) {
          const to = fromServer ? 'client' : 'server'
          assert.equal(
            heard.filter((line) => line.startsWith(`${to} `)),
            sent.filter((one) => one.fromServer === fromServer).map(({ text }) => `${to} ${text}`),
          )
        }
      }),
      { seed: 67, numRuns: 60 },
    )
  })

  it('counts what waits until it has arrived, and says when', async () => {
    const { server, heard } = pair()
    const done: string[] = []
    server.send('abc', () => done.push(`abc at ${server.bufferedAmount}`))
    server.send('defgh', () => done.push(`defgh at ${server.bufferedAmount}`))
    assert.is(server.bufferedAmount, 8)
    await turns(2)
    assert.equal(done, ['abc at 5', 'defgh at 0'])
    assert.ok(heard.includes('client defgh'))
  })

  it('closes after what was sent before, with a code and a reason, once', async () => {
    const { client, server, heard, closed } = pair()
    server.send('last', nothing)
    server.close(4001, 'no')
    assert.is(server.readyState, 2)
    server.send('too late', nothing)
    client.send('too late')
    server.close(1000, 'again')
    await turns(6)
    assert.equal(heard, ['client last', 'client close', 'server close'])
    assert.equal(closed, [{ code: 4001, reason: 'no' }])
    assert.is(server.readyState, 3)
  })

  it('lets the client say something last, and close without a word', async () => {
    const { client, heard, closed } = pair()
    await turn()
    client.send('bye')
    client.close()
    await turns(4)
    assert.equal(heard, ['open', 'server bye', 'client close', 'server close'])
    assert.equal(closed, [{ code: 1000, reason: '' }])
  })

  it('loses what was on its way when it is cut, and tells the sender that it waits no more', async () => {
    const { client, server, heard, closed } = pair()
    let isDone = false
    server.send('lost', () => (isDone = true))
    client.send('lost as well')
    server.terminate()
    assert.ok(isDone)
    assert.is(server.bufferedAmount, 0)
    await turns(4)
    assert.equal(heard, ['client close', 'server close'])
    assert.equal(closed, [{ code: 1006, reason: '' }])
  })

  it('answers a ping while it is open, and no more then', async () => {
    const { server, heard } = pair()
    server.ping()
    await turns(2)
    assert.ok(heard.includes('pong'))
    heard.length = 0
    server.ping()
    server.terminate()
    await turns(2)
    assert.not.ok(heard.includes('pong'))
  })
})
