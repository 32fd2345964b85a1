import { readOptions, type McpOptions } from '../../src/client/options.ts'
import type { ListedTool } from '../../src/client/listTools.ts'
import { approvalOf, effectsOf } from '../../src/client/toolsOf.ts'
import { mcpTools } from '../../../../src/mcp.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const listed = (name: string, annotations: ListedTool['annotations'] = {}): ListedTool => ({
  name,
  inputSchema: { type: 'object' },
  annotations,
})
const tools = [
  listed('read', { readOnlyHint: true }),
  listed('put', { idempotentHint: true, destructiveHint: false }),
  listed('post'),
  listed('both', { readOnlyHint: true, idempotentHint: true }),
]
const settings = (options: Partial<McpOptions>) => readOptions({ name: 'x', command: 'x', ...options })
const effects = (options: Partial<McpOptions>) => tools.map((tool) => effectsOf(settings(options), tool))
const approvals = (options: Partial<McpOptions>) => tools.map((tool) => approvalOf(settings(options), tool))

describe('what the calls of a server may change', (it) => {
  it('is anything, unless the application or a server that is trusted says less', () => {
    const any = ['irreversible', 'irreversible', 'irreversible', 'irreversible']
    assert.equal(effects({}), any)
    assert.equal(effects({ trust: false, approve: 'writes' }), any)
    assert.equal(effects({ trust: true }), ['none', 'idempotent', 'irreversible', 'none'])
    assert.equal(effects({ trust: true, effects: { read: 'irreversible', post: 'none' } }), [
      'irreversible',
      'idempotent',
      'none',
      'none',
    ])
    assert.equal(effectsOf(settings({ effects: {} }), listed('toString')), 'irreversible')
  })

  it('decides with what the server says who must be asked', () => {
    assert.equal(approvals({}), [true, true, true, true])
    assert.equal(approvals({ approve: 'writes' }), [false, true, true, false])
    assert.equal(approvals({ trust: true }), [false, true, true, false])
    assert.equal(approvals({ approve: 'writes', effects: { post: 'none' } }), [false, true, false, false])
    const own = { effects: { read: 'irreversible', put: 'idempotent', both: 'none' } } as const
    assert.equal(approvals({ approve: 'writes', ...own }), [true, true, true, false])
    assert.equal(approvals({ trust: true, ...own }), [true, true, true, false])
    assert.equal(approvals({ approve: 'none' }), [false, false, false, false])
    const [read] = approvals({ approve: (name, { path }) => name === 'read' && path === '/etc' })
    assert.equal(
      [(read as (input: unknown) => boolean)({ path: '/etc' }), (read as (input: unknown) => boolean)({})],
      [true, false],
    )
  })
})

describe('the options of a server', (it) => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /^mcpTools: name: /],
    [{ name: 'has space', command: 'x' }, /name: use 1 to 32 letters/],
    [{ name: 'x' }, /mcpTools "x": give command, or url/],
    [{ name: 'x', command: 'x', url: 'https://x.org' }, /give command, or url/],
    [{ name: 'x', url: 'https://x.org', env: {} }, /args, env and cwd are for a command/],
    [{ name: 'x', command: 'x', headers: {} }, /headers and auth are for a url/],
    [{ name: 'x', url: 'ftp://x.org' }, /url: give an https: or http: address/],
    [{ name: 'x', url: 'https://me:secret@x.org' }, /url holds a name or password/],
    [{ name: 'x', command: 'x', comand: 'y' }, /mcpTools "x": "comand" is not known; did you mean "command"\?$/],
    [
      { name: 'x', command: 'x', effects: { a: 'reversible' } },
      /effects\.a: say "none", "idempotent" or "irreversible"/,
    ],
    [{ name: 'x', command: 'x', approve: 'some' }, /approve: say "all", "writes", "none", or give a function/],
    [{ name: 'x', url: 'https://x.org', auth: {} }, /auth: give fileAuth\(…\), or an OAuthClientProvider/],
    [{ name: 'x', command: 'x', connectMs: 0 }, /connectMs: /],
    [
      { name: 'x', command: 'x', restart: { maxRestart: 1 } },
      /restart: "maxRestart" is not known; did you mean "maxRestarts"\?/,
    ],
  ]
  for (const [options, message] of wrong)
    it(`are refused with a word on what to do: ${JSON.stringify(options)}`, () => {
      assert.throws(() => mcpTools(options as McpOptions), message)
    })

  it('show nothing of a password in an address', () => {
    try {
      mcpTools({ name: 'x', url: 'https://me:hunter2@x.org' })
    } catch (thrown) {
      assert.not.ok(String(thrown).includes('hunter2'))
    }
  })
})
