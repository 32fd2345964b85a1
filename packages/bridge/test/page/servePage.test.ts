import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { compressed, smallest } from '../../src/page/compressed.ts'
import { readPageFiles } from '../../src/page/pageFiles.ts'
import { ServedPage, type PageOptions } from '../../src/page/servePage.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const code = 'console.log("x")\n'.repeat(200)
const html = '<html><head></head></html>'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A page of one script and a worker, as a build leaves it. */
async function servePage({ cleanup }: Pick<CaseContext, 'cleanup'>, options: PageOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-page-'))
  cleanup(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), html)
  await writeFile(join(folder, 'assets', 'index-1aB_4-Zz.js'), code)
  await writeFile(join(folder, 'assets', 'worker.js'), code)
  await writeFile(join(folder, 'assets', 'font.woff2'), code)
  const page = new ServedPage({ read: () => readPageFiles(folder), ...options })
  const http = createServer((asked, response) => void page.answer(asked, response, asked.url!))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    http.closeAllConnections()
    http.close()
  })
  const { port } = http.address() as AddressInfo
  // Not fetch, which decodes by itself.
  return (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) }),
        )
      })
        .on('error', reject)
        .end()
    })
}

const script = '/assets/index-1aB_4-Zz.js'

describe('the files of the page', (it) => {
  it('are sent compressed to who accepts it', async (context) => {
    const ask = await servePage(context)
    const br = await ask(script, { 'accept-encoding': 'gzip, deflate, br' })
    assert.equal([br.headers['content-encoding'], brotliDecompressSync(br.body).toString()], ['br', code])
    assert.is(Number(br.headers['content-length']), br.body.length)
    assert.is(br.headers['content-type'], 'text/javascript; charset=utf-8')
    assert.is(br.headers.vary, 'accept-encoding')
    const gzip = await ask(script, { 'accept-encoding': 'gzip' })
    assert.equal([gzip.headers['content-encoding'], gunzipSync(gzip.body).toString()], ['gzip', code])
    const plain = await ask(script)
    assert.equal([plain.headers['content-encoding'], plain.body.toString()], [undefined, code])
    assert.is(plain.headers.vary, 'accept-encoding')
    const none = await ask(script, { 'accept-encoding': 'identity;q=0, zstd' })
    assert.equal([none.status, none.headers.vary], [406, 'accept-encoding'])
  })

  it('have the same headers where only those are asked for', async (context) => {
    const ask = await servePage(context)
    const [got, head] = [
      await ask(script, { 'accept-encoding': 'br' }),
      await ask(script, { 'accept-encoding': 'br' }, 'HEAD'),
    ]
    assert.is(head.body.length, 0)
    assert.is(head.headers['content-length'], got.headers['content-length'])
    assert.is(head.headers['content-encoding'], 'br')
    assert.is((await ask(script, {}, 'POST')).status, 405)
  })

  it('are compressed once, for all who ask', async () => {
    const encoded = compressed(Buffer.from(code))
    const [first, second] = [encoded('br'), encoded('br')]
    assert.is(await first, await second)
    assert.is(gunzipSync(await encoded('gzip')).toString(), code)
  })

  it('are compressed better once they are asked for again, and nobody waits for that', async () => {
    const body = Buffer.from(
      Array.from({ length: 2_000 }, (_, index) => `const n${index} = ${index * 7919}\n`).join(''),
    )
    const encoded = compressed(body)
    const first = await encoded('br')
    assert.is(await encoded('br'), first)
    let now = first
    while (now === first) {
      await new Promise((resolve) => setImmediate(resolve))
      now = await encoded('br')
    }
    assert.ok(now.length < first.length)
    assert.equal(now, await smallest(body))
    assert.equal(brotliDecompressSync(now), body)
  })

  it('are sent as they are where nothing is saved', async (context) => {
    const ask = await servePage(context)
    for (const [path, body] of [
      ['/', html],
      ['/assets/font.woff2', code],
    ] as const) {
      const answer = await ask(path, { 'accept-encoding': 'br, gzip' })
      assert.equal([answer.headers['content-encoding'], answer.body.toString()], [undefined, body])
      assert.is(answer.headers.vary, 'accept-encoding')
      const refused = await ask(path, { 'accept-encoding': 'br, identity;q=0' })
      assert.equal([refused.status, refused.body.toString()], [406, 'This is sent as it is.\n'])
    }
  })

  it('are kept by who has them where the name changes with what is in them, and else asked for again', async (context) => {
    const ask = await servePage(context)
    assert.is((await ask(script)).headers['cache-control'], 'public, max-age=31536000, immutable')
    for (const path of ['/', '/assets/worker.js']) assert.is((await ask(path)).headers['cache-control'], 'no-cache')
  })

  it('are not sent again to who has them', async (context) => {
    const ask = await servePage(context)
    for (const path of ['/', script]) {
      const { headers } = await ask(path)
      const etag = headers.etag!
      assert.match(etag, /^W\/"[\w-]{22}"$/)
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const again = await ask(path, { 'if-none-match': known, 'accept-encoding': 'br' })
        assert.equal([again.status, again.body.length, again.headers.etag], [304, 0, etag], known)
        assert.is(again.headers['content-security-policy'], headers['content-security-policy'])
      }
      assert.is((await ask(path, { 'if-none-match': '"other"' })).status, 200)
      assert.is((await ask(path, { 'if-none-match': etag }, 'HEAD')).status, 304)
    }
    // A page that says something else has another one.
    const [here, there] = [await ask('/'), await (await servePage(context, { bridge: '../ws' }))('/')]
    assert.is.not(here.headers.etag, there.headers.etag)
  })

  it('are framed by nobody, or by the pages that are named', async (context) => {
    const policy = async (options: PageOptions): Promise<string> =>
      (await (await servePage(context, options))('/')).headers['content-security-policy'] as string
    assert.match(await policy({}), /; frame-ancestors 'none'$/)
    const frameAncestors = ['https://app.example', 'http://127.0.0.1:3000']
    assert.match(
      await policy({ frameAncestors }),
      /; frame-ancestors https:\/\/app\.example http:\/\/127\.0\.0\.1:3000$/,
    )
  })
})
