import * as fc from 'fast-check'
import { secretsIn, ServerSecrets } from '../../src/client/serverSecrets.ts'
import { createRuntime, defineAgent, type AgentEvent } from '../../../../src/index.ts'
import { mcpTools } from '../../../../src/mcp.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls } from '../../../../test/support/agentHarness.ts'
import { someRuns } from '../../../../test/support/seeds.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { raw } from './opened.ts'

const secret = fc
  .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
  .filter((text) => text.trim().length >= 8)

const ways = [
  (value: string) => ({ url: `https://x.example/mcp?apiKey=${encodeURIComponent(value)}` }),
  (value: string) => ({ args: [`--token=${value}`] }),
  (value: string) => ({ args: ['--api-key', value.replace(/^-+/, '') === value ? value : `x${value}`] }),
  (value: string) => ({ args: ['-e', `SERVICE_SECRET=${value}`] }),
  (value: string) => ({ args: ['-H', `X-Token: ${value.trim()}`] }),
]

describe('the secrets of a server', (it) => {
  it('are the values of variables and headers that are not named as plain, with and without their scheme', () => {
    const options = {
      name: 'x',
      env: { TOKEN: 'long-enough', SHORT: '1234567', FILE: '/a/path/to/a/file' },
      headers: { Authorization: 'Bearer abcdefgh', Accept: 'application/json' },
      plain: ['FILE', 'Accept'],
    }
    assert.equal(secretsIn(options), ['long-enough', 'Bearer abcdefgh', 'abcdefgh'])
  })

  it('are in the query, the password and the path of an address, and in arguments that look like it', () => {
    for (const [options, expected] of [
      [
        { url: 'https://x.example/mcp?apiKey=a%20long-key&b=short&plain-one=as-it-stands' },
        ['a%20long-key', 'a long-key'],
      ],
      [{ url: 'https://x.example/s/0a1b2c3d4e5f6a7b8c9d0e1f/mcp' }, ['0a1b2c3d4e5f6a7b8c9d0e1f']],
      [{ args: ['-y', 'some-package-of-a-server@latest', './a/folder/that/is/long', '--verbose=everything'] }, []],
      [{ args: ['--token=secret-1', '--api-key', 'secret-2', '--tokens', 'harmless'] }, ['secret-1', 'secret-2']],
      [
        { args: ['--apiKey=secret-1', '-e', 'GITHUB_TOKEN=secret-2', 'DB_PASSWORD: secret-3'] },
        ['secret-1', 'secret-2', 'secret-3'],
      ],
      [
        { args: ['--header', 'Authorization: Bearer secret-1', '--header', 'X-Api-Key:secret-2'] },
        ['Bearer secret-1', 'secret-1', 'secret-2'],
      ],
      [{ args: ['postgres://ann:secret-1@db/x', '--url=https://x.example/?k=secret-2'] }, ['secret-1', 'secret-2']],
      [{ args: ['0a1b2c3d4e5f6a7b8c9d0e1f'] }, ['0a1b2c3d4e5f6a7b8c9d0e1f']],
      [{ args: ['--password', '--quiet-please', '--token'] }, []],
    ] as const)
      assert.equal(secretsIn({ name: 'x', plain: ['plain-one'], ...options }), expected)
  })

  it('are blanked wherever they stand in what a server says, whatever they are', () => {
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        const secrets = new ServerSecrets([value], () => {})
        const said = {
          content: [{ type: 'text', text: `${before}${value}${after}` }],
          structuredContent: { [`k${value}`]: [value] },
        }
        const shown = secrets.clean(said)
        assert.not.ok(shown.content[0]!.text.includes(value) && !`${before}${after}[redacted:mcp]`.includes(value))
        assert.not.ok(JSON.stringify(shown.structuredContent).includes(JSON.stringify(value).slice(1, -1)))
      }),
      { numRuns: someRuns(400), seed: 18 },
    )
  })

  it('of arguments and addresses are blanked as well, whatever they are', () => {
    fc.assert(
      fc.property(secret, fc.constantFrom(...ways), (value, way) => {
        const secrets = new ServerSecrets(secretsIn({ name: 'x', ...way(value) }), () => {})
        const encoded = encodeURIComponent(value)
        const shown = secrets.clean(`(${value}) (${encoded})`)
        assert.not.ok(shown.includes(`(${value})`), value)
        assert.not.ok(shown.includes(`(${encoded})`), value)
      }),
      { numRuns: someRuns(400), seed: 18 },
    )
  })

  it('are blanked from the moment a provider reads or keeps them', async () => {
    class Provider {
      readonly #kept = { access_token: 'access-from-file', refresh_token: 'refresh-from-file', token_type: 'Bearer' }
      readonly redirectUrl = undefined
      readonly clientMetadata = { redirect_uris: [] }
      clientInformation = () => ({ client_id: 'public-client-id', client_secret: 'client-secret-1' })
      tokens = async () => this.#kept
      saveTokens = () => {}
      redirectToAuthorization = () => {}
      saveCodeVerifier = () => {}
      codeVerifier = () => 'verifier-of-pkce'
    }
    const hidden: string[] = []
    const secrets = new ServerSecrets([], (learnt) => void hidden.push(...learnt))
    const watched = secrets.watch(new Provider())
    await watched.tokens()
    await watched.saveTokens({ access_token: 'access-that-is-new', token_type: 'Bearer' })
    await watched.clientInformation()
    await watched.codeVerifier()
    const all =
      'access-from-file refresh-from-file access-that-is-new client-secret-1 verifier-of-pkce public-client-id Bearer'
    assert.match(secrets.clean(all), /^(\[redacted:mcp\] ){5}public-client-id Bearer$/)
    // Another tool may print them too.
    for (const word of all.split(' ').slice(0, 5)) assert.ok(hidden.includes(word), word)
  })

  it('are in no event of an agent whose server prints its variables', { timeoutMs: 30_000 }, async ({ cleanup }) => {
    const values = fc.sample(secret, { numRuns: 12, seed: 18 })
    const env = Object.fromEntries(values.map((value, index) => [`SECRET_${index}`, value]))
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const wanted = Object.keys(env).map((name) => ['env', { name }] as const)
    const model = scriptedModel([calls('a', ...wanted), 'done'])
    const source = mcpTools({ ...raw(), env, approve: 'none' })
    const agent = await runtime.spawn(defineAgent({ name: 'clerk', model, tools: [source] }))
    const events: AgentEvent[] = []
    agent.subscribe((event) => void events.push(event))
    await agent.prompt('Print them.').result
    const ends = events.flatMap((event) => (event.type === 'tool.end' ? [event.message.content] : []))
    assert.equal(ends.length, values.length)
    for (const value of values)
      assert.not.ok(JSON.stringify(events).includes(JSON.stringify(value).slice(1, -1)), value)
  })
})
