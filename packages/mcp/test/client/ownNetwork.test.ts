import { createServer, type RequestListener } from 'node:http'
import { boundedFetch } from '../../src/client/httpTransport.ts'
import { checkLead, type Lookup } from '../../src/client/ownNetwork.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const addresses: Readonly<Record<string, string>> = {
  'tickets.example': '203.0.113.7',
  'login.example': '2001:db8::7',
  'idp.internal': '10.1.2.3',
  'metadata.internal': '169.254.169.254',
  'six.internal': 'fd00::1',
  'mapped.internal': '::ffff:192.168.0.1',
}
const lookup: Lookup = async (host) => {
  const address = addresses[host]
  if (address === undefined) throw new Error('ENOTFOUND')
  return [{ address, family: address.includes(':') ? 6 : 4 }]
}

const leads = (from: string, to: string, allowed: readonly string[] = []): Promise<boolean> =>
  checkLead(new URL(`https://${from}/mcp`), new URL(`http://${to}/x`), { allowed, lookup }).then(
    () => true,
    () => false,
  )

describe('a server that says where to sign in', (it) => {
  it('leads nobody into a network that it is not in itself', async () => {
    for (const to of ['login.example', 'tickets.example', 'nowhere.example', '198.51.100.1'])
      assert.ok(await leads('tickets.example', to), to)
    const within = ['idp.internal', 'metadata.internal', 'six.internal', 'mapped.internal']
    for (const to of [...within, '127.0.0.1:8080', '[::1]', '[::ffff:10.0.0.1]', '0.0.0.0', '2130706433']) {
      assert.not(await leads('tickets.example', to), to)
      assert.ok(await leads('idp.internal', to), to)
    }
    assert.ok(await leads('tickets.example', 'idp.internal', ['idp.internal']))
  })

  it('does so neither at once nor by sending on', async (context) => {
    const asked: string[] = []
    const inner = await listening(context, '127.0.0.1', (request, response) => {
      asked.push(`${String(request.headers['x-key'])} ${request.headers.authorization}`)
      response.end('secret')
    })
    const outer = await listening(
      context,
      'localhost',
      (_, response) => void response.writeHead(302, { location: inner }).end(),
    )
    const options = { url: outer, headers: { 'x-key': 'of the server' }, maxResultBytes: 1_000, onHeader: () => {} }
    const isOutside: Lookup = async () => [{ address: '203.0.113.7', family: 4 }]
    const outside = boundedFetch({ ...options, lookup: isOutside }, () => new Error('long'))
    for (const url of [inner, `${outer}/.well-known/x`])
      await assert.rejects(
        () => outside(url),
        (thrown: unknown) => /authHosts: \['127\.0\.0\.1'\]/.test((thrown as Error).message),
      )
    assert.equal(asked, [])
    const told = boundedFetch({ ...options, lookup: isOutside, authHosts: ['127.0.0.1'] }, () => new Error('long'))
    const answer = await told(`${outer}/.well-known/x`, { headers: { authorization: 'Bearer of the server' } })
    assert.equal([await answer.text(), asked], ['secret', ['undefined undefined']])
    assert.is((await told(`${outer}/token`, { method: 'POST', body: 'x' })).status, 302)
  })
})

/** Listens at a port of its own, until the case ends, and resolves with the address. */
async function listening({ cleanup }: CaseContext, host: string, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as { readonly port: number }
  return `http://${host}:${port}`
}
