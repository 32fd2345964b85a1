import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { fileAuth } from '../../src/client/fileAuth.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { opened, tempFolder, until } from './opened.ts'

const timeoutMs = 10_000

/** Listens at a port of its own, until the case ends, and resolves with the address. */
async function listening({ cleanup }: CaseContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

/** A server of the Model Context Protocol that wants a token, and the one that gives tokens, at one address or at two. */
async function guardedServer(context: CaseContext, { isApart = false } = {}) {
  let origin = ''
  let issuer = ''
  /** Path and header of each request. */
  const keys: (readonly [path: string, key: string | undefined])[] = []
  /** The token that is let in. */
  let valid = ''
  let tokens = 0
  let isRefreshing = true
  const seen: string[] = []
  const send = (response: ServerResponse, status: number, body?: unknown, headers: object = {}): unknown =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(body === undefined ? '' : JSON.stringify(body))
  const grant = (): object => {
    valid = `access-token-${(tokens += 1)}`
    return { access_token: valid, refresh_token: 'refresh-token-secret', token_type: 'Bearer', expires_in: 3_600 }
  }
  const pages: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse, url: URL) => unknown>> = {
    '/.well-known/oauth-protected-resource/mcp': (_, response) =>
      send(response, 200, { resource: `${origin}/mcp`, authorization_servers: [issuer] }),
    '/.well-known/oauth-authorization-server': (_, response) =>
      send(response, 200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      }),
    '/register': async (request, response) =>
      send(response, 201, { client_id: 'client-7', ...((await json(request)) as object) }),
    '/authorize': (_, response, { searchParams }) => {
      seen.push(`authorize ${searchParams.get('client_id')} ${searchParams.get('code_challenge_method')}`)
      const back = new URL(searchParams.get('redirect_uri')!)
      back.searchParams.set('code', 'code-1')
      back.searchParams.set('state', searchParams.get('state')!)
      send(response, 302, undefined, { location: back.href })
    },
    '/token': async (request, response) => {
      const form = new URLSearchParams(await text(request))
      seen.push(`token ${form.get('grant_type')}`)
      if (form.get('grant_type') === 'refresh_token' && !isRefreshing)
        return send(response, 400, { error: 'invalid_grant' })
      return send(response, 200, grant())
    },
    '/mcp': async (request, response) => {
      if (request.method !== 'POST') return send(response, 405)
      const wanted = {
        'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
      }
      if (valid === '' || request.headers.authorization !== `Bearer ${valid}`)
        return send(response, 401, undefined, wanted)
      const { id, method } = (await json(request)) as { readonly id?: number; readonly method: string }
      if (id === undefined) return send(response, 202)
      const results: Readonly<Record<string, object>> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        },
        'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
        // A server that shows what it was sent.
        'tools/call': { content: [{ type: 'text', text: `you are ${request.headers.authorization}` }] },
      }
      const unknown = { error: { code: -32_601, message: 'Method not found' } }
      const result = results[method]
      return send(response, 200, { jsonrpc: '2.0', id, ...(result === undefined ? unknown : { result }) })
    },
  }
  const answer: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    keys.push([url.pathname, request.headers['x-key']?.toString()])
    const page = pages[url.pathname]
    if (page === undefined) send(response, 404)
    else void page(request, response, url)
  }
  origin = await listening(context, answer)
  issuer = isApart ? await listening(context, answer) : origin
  return {
    url: `${origin}/mcp`,
    seen,
    keys,
    /** A token that is let in. */
    issue: () => (valid = 'issued-elsewhere'),
    revoke: () => (valid = 'revoked'),
    stopRefreshing: () => (isRefreshing = false),
  }
}

/** A person who signs in wherever they are sent, when they get to it. */
function person() {
  const shown: URL[] = []
  return {
    shown,
    show: (address: URL): void => void shown.push(address),
    signIn: async (): Promise<string> => (await fetch(shown.at(-1)!)).text(),
  }
}

/** Status of the answer to a request for `path` as it is: `fetch` sends no address that is none. */
const statusOf = (port: number, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, path }, (response) => resolve(response.resume().statusCode))
    asked.on('error', reject)
  })

describe('signing in to a server', (it) => {
  it('holds nothing up, and brings the tools once a person has done it', { timeoutMs }, async (context) => {
    const { url, seen } = await guardedServer(context)
    const dir = join(await tempFolder(context), 'auth')
    const { shown, show, signIn } = person()
    const auth = fileAuth(dir, { show, port: await freePort() })
    const options = { name: 'guarded', url, auth, protocol: 'legacy' } as const
    const open = await opened(context, options)
    assert.equal(open.connection.status().state, 'failed')
    assert.equal(open.connection.trouble, 'it wants a person to sign in')
    await open.connection.ready(context.signal)
    // No loop: the person is shown one address.
    assert.equal(shown.length, 1)
    assert.match(await signIn(), /You can close this window\./)
    await until(() => open.connection.status().state === 'up', context.signal)
    assert.equal(seen, ['authorize client-7 S256', 'token authorization_code'])
    assert.match(await open.text('whoami'), /^you are Bearer \[redacted:mcp\]$/)
    assert.equal((await stat(join(dir, 'oauth.json'))).mode & 0o777, 0o600)
    // Whoever comes later needs nobody.
    const again = await opened(context, { ...options, auth: fileAuth(dir, { show }) })
    assert.equal(again.names(), ['whoami'])
    assert.equal(shown.length, 1)
    assert.not.ok([...open.log, ...again.log].join('\n').includes('access-token'))
  })

  it('gives the headers of the server to nobody else, such as who gives the tokens', { timeoutMs }, async (context) => {
    const secret = 'header-of-the-server'
    for (const headers of [{ 'X-Key': secret }, () => Promise.resolve({ 'X-Key': secret })]) {
      const { url, keys } = await guardedServer(context, { isApart: true })
      const { show, signIn } = person()
      const auth = fileAuth(await tempFolder(context), { show, port: await freePort() })
      const open = await opened(context, { name: 'guarded', url, auth, headers, protocol: 'legacy' })
      await signIn()
      await until(() => open.connection.status().state === 'up', context.signal)
      const pathsWith = (wanted: string | undefined) =>
        new Set(keys.flatMap(([path, key]) => (key === wanted && path !== '/authorize' ? [path] : [])))
      // Somebody asks, without any header, whether the server is there.
      const own = ['/mcp', '/.well-known/oauth-protected-resource/mcp']
      assert.equal([...pathsWith(secret)].toSorted(), own.toSorted())
      for (const path of ['/token', '/register', '/.well-known/oauth-authorization-server'])
        assert.ok(pathsWith(undefined).has(path), path)
    }
  })

  it('works with the newest version of the protocol as well', { timeoutMs }, async (context) => {
    const { url } = await guardedServer(context)
    const { show, signIn } = person()
    const auth = fileAuth(await tempFolder(context), { show, port: await freePort() })
    const open = await opened(context, { name: 'guarded', url, auth })
    assert.equal(open.connection.trouble, 'it wants a person to sign in')
    await signIn()
    await until(() => open.connection.status().state === 'up', context.signal)
    assert.equal(open.names(), ['whoami'])
  })

  it(
    'is asked for again when a token is neither taken nor renewed, in the middle of a life',
    { timeoutMs },
    async (context) => {
      const { url, seen, revoke, stopRefreshing } = await guardedServer(context)
      const { shown, show, signIn } = person()
      const auth = fileAuth(await tempFolder(context), { show, port: await freePort() })
      const open = await opened(context, { name: 'guarded', url, auth, protocol: 'legacy' })
      await signIn()
      await until(() => open.connection.status().state === 'up', context.signal)
      revoke()
      assert.match(await open.text('whoami'), /^you are Bearer \[redacted:mcp\]$/)
      assert.equal(seen.at(-1), 'token refresh_token')
      stopRefreshing()
      revoke()
      const thrown = await open.call('whoami').catch((error: unknown) => error)
      assert.equal(
        (thrown as Error).message,
        'The MCP server "guarded" wants a person to sign in: the person was asked to.',
      )
      assert.equal(shown.length, 2)
      await signIn()
      await until(() => seen.at(-1) === 'token authorization_code', context.signal)
      await until(async () => (await open.text('whoami').catch(() => '')).startsWith('you are'), context.signal)
    },
  )

  it('is noticed when it was done elsewhere', { timeoutMs }, async (context) => {
    const { url, issue } = await guardedServer(context)
    const dir = await tempFolder(context)
    const auth = fileAuth(dir, { show: () => {}, port: await freePort() })
    const { connection } = await opened(context, { name: 'guarded', url, auth })
    await connection.ready(context.signal)
    assert.equal(connection.status().state, 'failed')
    const tokens = { access_token: issue(), token_type: 'Bearer' }
    await writeFile(join(dir, 'oauth.json'), JSON.stringify({ tokens }))
    await until(async () => {
      await connection.ready(context.signal)
      return connection.status().state === 'up'
    }, context.signal)
  })

  it('is asked for again, some time after a person said no', { timeoutMs }, async (context) => {
    const { url } = await guardedServer(context)
    const { shown, show, signIn } = person()
    const auth = fileAuth(await tempFolder(context), { show, port: await freePort() })
    const open = await opened(context, { name: 'guarded', url, auth, restart: { windowMs: 1 } })
    const address = shown.at(-1)!
    const back = new URL(address.searchParams.get('redirect_uri')!)
    back.search = new URLSearchParams({
      error: 'access_denied',
      state: address.searchParams.get('state')!,
    }).toString()
    assert.equal((await fetch(back)).status, 200)
    await until(async () => {
      await open.connection.ready(context.signal)
      return shown.length > 1
    }, context.signal)
    await signIn()
    await until(() => open.connection.status().state === 'up', context.signal)
  })

  it('needs a port, and says when it is taken', { timeoutMs }, async (context) => {
    const { url } = await guardedServer(context)
    const port = await freePort()
    const { shown, show } = person()
    const options = { name: 'guarded', url, restart: { maxRestarts: 0 } }
    await opened(context, { ...options, auth: fileAuth(await tempFolder(context), { show: () => {}, port }) })
    const auth = fileAuth(await tempFolder(context), { show, port })
    const { connection } = await opened(context, { ...options, auth })
    assert.match(
      connection.trouble ?? '',
      new RegExp(`port ${port}, to which a browser would be sent back, cannot be had: .*EADDRINUSE`),
    )
    assert.equal(shown, [])
  })

  it('takes no code of a page that was not asked, and ends with the connection', { timeoutMs }, async (context) => {
    const { url, seen } = await guardedServer(context)
    const { show } = person()
    const port = await freePort()
    const auth = fileAuth(await tempFolder(context), { show, port })
    const { connection } = await opened(context, { name: 'guarded', url, auth })
    const back = `http://127.0.0.1:${port}/callback?code=stolen&state=guessed`
    assert.equal((await fetch(back)).status, 400)
    for (const other of ['/other', '//']) assert.equal(await statusOf(port, other), 404)
    assert.equal(connection.status().state, 'failed')
    assert.not.ok(seen.some((line) => line.startsWith('token')))
    await connection.close()
    assert.match(String(await fetch(back).catch((error: unknown) => (error as Error).cause)), /ECONNREFUSED/)
  })

  it(
    'loses nothing of what is kept at the same moment, in whatever order it is written',
    { timeoutMs },
    async (context) => {
      const dir = await tempFolder(context)
      // As the SDK uses it.
      const auth = fileAuth(dir, { show: () => {} }) as Required<OAuthClientProvider>
      const client = { client_id: 'client-7' }
      const tokens = { access_token: 'a', token_type: 'Bearer' }
      await Promise.all([
        auth.saveCodeVerifier('verifier'),
        auth.saveClientInformation(client),
        auth.saveDiscoveryState({ authorizationServerUrl: 'https://a.example' }),
        auth.saveTokens(tokens),
        auth.saveCodeVerifier('next'),
      ])
      const again = fileAuth(dir, { show: () => {} }) as Required<OAuthClientProvider>
      assert.equal(
        [
          await again.clientInformation(),
          await again.tokens(),
          await again.codeVerifier(),
          await again.discoveryState(),
        ],
        [client, tokens, 'next', { authorizationServerUrl: 'https://a.example' }],
      )
      await Promise.all([auth.invalidateCredentials('tokens'), auth.saveCodeVerifier('last')])
      assert.equal(
        [await again.clientInformation(), await again.tokens(), await again.codeVerifier()],
        [client, undefined, 'last'],
      )
      await auth.saveTokens(tokens)
      await assert.rejects(async () => again.codeVerifier(), /No sign-in is under way/)
    },
  )

  it('starts over where the file is nonsense', { timeoutMs }, async (context) => {
    const { url } = await guardedServer(context)
    const dir = join(await tempFolder(context), 'auth')
    await mkdir(dir)
    await writeFile(join(dir, 'oauth.json'), '{"tokens": 7, "client": [')
    const { show, signIn } = person()
    const open = await opened(context, { name: 'guarded', url, auth: fileAuth(dir, { show, port: await freePort() }) })
    await signIn()
    await until(() => open.connection.status().state === 'up', context.signal)
    assert.match(await readFile(join(dir, 'oauth.json'), 'utf8'), /"access_token"/)
  })

  it('refuses options that it does not know', () => {
    const bad = { prt: 1 } as object
    assert.throws(() => fileAuth('auth', bad), /fileAuth: options: "prt" is not known; did you mean "port"\?/)
  })
})
