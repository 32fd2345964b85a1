import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { memoryStore, policyModel } from 'escapement'
import { reply } from './demoReplies.ts'
import { openServer } from './server.ts'

test('a visitor gets the page and a cookie, and no file beside the page', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'page-'))
  await writeFile(join(folder, 'index.html'), 'the page')
  const { server, runtime } = await openServer(policyModel(reply), memoryStore(), folder)
  context.after(async () => {
    server.closeAllConnections()
    server.close()
    await runtime.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const page = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal(await page.text(), 'the page')
  assert.match(page.headers.get('set-cookie') ?? '', /^visitor=[0-9a-f-]{36}; .*HttpOnly/)
  const other = await fetch(`http://127.0.0.1:${port}/..%2fpackage.json`)
  assert.equal(await other.text(), 'the page')
  assert.equal((await fetch(`http://127.0.0.1:${port}/nothing.js`)).status, 404)
  // As no browser asks, and strangers do: the server must outlive it.
  for (const address of ['//', '//[', 'http://[', '//a:99999/'])
    assert.match(await ask(port, address), /^HTTP\/1.1 400 /)
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200)
})

/** What the server answers to a request that is sent as it is. */
async function ask(port: number, address: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(`GET ${address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  let answer = ''
  for await (const piece of socket.setEncoding('utf8')) answer += String(piece)
  return answer
}
