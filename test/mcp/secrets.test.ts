import * as fc from 'fast-check'
import { secretsIn, ServerSecrets } from '../../src/mcp/serverSecrets.ts'
import { createRuntime, defineAgent, type AgentEvent } from '../../src/index.ts'
import { mcpTools } from '../../src/mcp.ts'
import { scriptedModel } from '../../src/testing/scriptedModel.ts'
import { calls } from '../support/agentHarness.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { raw } from './opened.ts'

const secret = fc
  .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
  .filter((text) => text.trim().length >= 8)

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
