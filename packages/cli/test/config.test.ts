import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findConfig } from '../src/config/findConfig.ts'
import { loadConfig } from '../src/config/loadConfig.ts'
import { readConfig } from '../src/config/readConfig.ts'
import { placeOfKey } from '../../tools/src/userFiles/placeOfKey.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { configFolder, configText } from './configFolder.ts'

const nowhere = { home: '/nowhere', uid: process.getuid?.() }

describe('findConfig', (it) => {
  it('takes the nearest, up to the root of the repository', (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': '',
      'a/escapement.config.mjs': '',
      'a/b/c/x': '',
      'd/x': '',
    })
    mkdirSync(join(dir, '.git'))
    assert.is(findConfig(join(dir, 'a/b/c'), nowhere), join(dir, 'a/escapement.config.mjs'))
    assert.is(findConfig(join(dir, 'd'), nowhere), join(dir, 'escapement.config.ts'))
    mkdirSync(join(dir, 'd/.git'))
    assert.is(findConfig(join(dir, 'd'), nowhere), undefined)
  })

  it('goes up to the home of the user, and elsewhere nowhere', (context) => {
    const dir = configFolder(context, { 'escapement.config.js': '', 'home/x': '', 'home/a/b/x': '' })
    assert.is(findConfig(join(dir, 'home/a'), nowhere), undefined)
    assert.is(findConfig(join(dir, 'home/a'), { ...nowhere, home: join(dir, 'home') }), undefined)
    assert.is(findConfig(join(dir, 'home/a'), { ...nowhere, home: dir }), join(dir, 'escapement.config.js'))
    assert.is(findConfig(dir, nowhere), join(dir, 'escapement.config.js'))
    assert.is(findConfig(join(dir, 'gone'), nowhere), undefined)
  })

  it('refuses one above that belongs to somebody else', (context) => {
    const dir = configFolder(context, { 'escapement.config.ts': '', 'a/x': '' })
    mkdirSync(join(dir, '.git'))
    const stranger = { home: '/nowhere', uid: (process.getuid?.() ?? 0) + 1 }
    // Root's own are everybody's.
    if (process.getuid?.() === 0) assert.is(findConfig(join(dir, 'a'), stranger), join(dir, 'escapement.config.ts'))
    else
      assert.throws(() => findConfig(join(dir, 'a'), stranger), withCode('INVALID_OPTION', 'belongs to another user'))
    assert.is(findConfig(dir, stranger), join(dir, 'escapement.config.ts'))
  })
})

describe('placeOfKey', (it) => {
  const source = `// modle: 'x'
import { model } from './model.ts'
const serve = { prot: 1 }
export default defineConfig({
  /* modle: 0 */
  note: "modle: 1", model, // serve: {
  'modle': 1,
  serve: { port: 1,
    prot: 2 },
  "odd key": 3,
})
`

  it('finds a key where it is code, in the object that the path says', () => {
    assert.is(placeOfKey(source, ['modle']), 7)
    assert.is(placeOfKey(source, ['model']), 6)
    assert.is(placeOfKey(source, ['serve', 'prot']), 9)
    assert.is(placeOfKey(source, ['serve', 'port']), 8)
    assert.is(placeOfKey(source, ['odd key']), 10)
    assert.is(placeOfKey(source, ['serve', 0, 'prot']), 9)
    assert.is(placeOfKey(source, []), 4)
  })

  it('knows no place for what is computed', () => {
    assert.is(placeOfKey(source, ['limits']), undefined)
    assert.is(placeOfKey(source, ['serve', 'a.b*c']), undefined)
  })
})

async function wrongIn(context: CaseContext, body: string, name = 'escapement.config.ts'): Promise<string> {
  const dir = configFolder(context, { [name]: name.endsWith('.json') ? body : configText(body) })
  const failed: unknown = await readConfig(join(dir, name)).catch((thrown: unknown) => thrown)
  assert.ok(failed instanceof Error)
  assert.is((failed as { code?: string }).code, 'INVALID_OPTION')
  return failed.message.replaceAll(`${dir}/`, '')
}

describe('a configuration', (it) => {
  it('is read, its folder of logs from where it stands', async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`const agent = defineAgent({ name: 'a', model: policyModel(() => 'x') })
export default defineConfig({ agents: [agent, ({ model }) => defineAgent({ name: 'b', model })], store: './logs', limits: { turns: 3 } })`),
    })
    const { agents, logs, limits, file } = await readConfig(join(dir, 'escapement.config.ts'))
    assert.equal(
      [agents?.length, logs, limits, file],
      [2, join(dir, 'logs'), { turns: 3 }, join(dir, 'escapement.config.ts')],
    )
  })

  it('with typing mistakes is refused, each with its line and what may be meant', async (context) => {
    const body = `export default defineConfig({
  modle: 'embedded',
  serve: { prot: 8080, host: 'localhost' },
  limits: { turns: -1 },
  whatever: 1,
} as never)
`
    const lines = (await wrongIn(context, body)).split('\n')
    assert.is(lines.length, 4)
    assert.ok(lines.includes('escapement.config.ts:3: "modle" is not known; did you mean "model"?'), lines.join('\n'))
    assert.ok(lines.includes('escapement.config.ts:4: "prot" is not known; did you mean "port"?'))
    assert.ok(
      lines.some((line) =>
        line.startsWith('escapement.config.ts:6: "whatever" is not known; there are: agents, model, '),
      ),
    )
    assert.ok(lines.some((line) => line.startsWith('escapement.config.ts:5: limits.turns: ')))
  })

  it('says what it takes where something else stands', async (context) => {
    assert.match(
      await wrongIn(context, `export default { agents: [{ name: 'a' }] }`),
      /^escapement\.config\.ts:2: agents\.0: give what defineAgent returns, or a function/,
    )
    assert.match(await wrongIn(context, `export default { model: 5 }`), /:2: model: give "provider:id"/)
    for (const store of ["''", '5'])
      assert.match(
        await wrongIn(context, `export default { store: ${store} }`),
        /:2: store: give a folder, sqlite:<file> or postgres:/,
      )
    assert.match(
      await wrongIn(context, `export default { tools: [() => 1] }`),
      /:2: tools: entry 0: make it with defineTool/,
    )
    assert.match(
      await wrongIn(context, `export default { tools: [workspaceTools('.')] }`),
      /:2: tools: entry 0: it is a list itself: spread it, as in \[\.\.\.workspaceTools\(dir\)\]/,
    )
    // As a command that is installed globally meets a folder with a copy of its own.
    assert.match(
      await wrongIn(
        context,
        `export default { agents: [{ ...defineAgent({ name: 'a', model: policyModel(() => '') }) }] }`,
      ),
      /:2: agents\.0: it was made by another copy of escapement/,
    )
    assert.match(await wrongIn(context, 'export default 5'), /^escapement\.config\.ts:2: .*object/)
    assert.match(await wrongIn(context, 'export const config = {}'), /has no default export/)
  })

  it('says which copy of the package an agent is of', async (context) => {
    const config = `export default { agents: [{ ...defineAgent({ name: 'a', model: policyModel(() => '') }) }] }`
    const dir = configFolder(context, {
      'escapement.config.ts': configText(config),
      'node_modules/escapement/package.json': '{}',
    })
    const failed: unknown = await readConfig(join(dir, 'escapement.config.ts')).catch((thrown: unknown) => thrown)
    const own = join(import.meta.dirname, '..', '..', '..')
    const said = `copy of escapement (${join(dir, 'node_modules', 'escapement')}; this one is ${own})`
    assert.ok((failed as Error).message.includes(said), (failed as Error).message)
  })

  it('that Node cannot run is refused with its line', async (context) => {
    assert.match(
      await wrongIn(context, '\nenum A { B }\nexport default {}'),
      /^escapement\.config\.ts:3: TypeScript enum is not supported .* Node runs TypeScript by leaving types out/,
    )
    assert.match(await wrongIn(context, 'const a: number = 1\nexport default {{'), /^escapement\.config\.ts:3: /)
    assert.match(await wrongIn(context, '\n\nthrow new Error("not today")'), /^escapement\.config\.ts:4: not today\./)
    assert.match(
      await wrongIn(context, 'export default defineConfig(missing)'),
      /^escapement\.config\.ts:2: missing is not defined/,
    )
    assert.match(
      await wrongIn(context, `import 'not-there-at-all'\nexport default {}`),
      /could not be loaded: Cannot find package 'not-there-at-all'.*npm install not-there-at-all\./,
    )
    assert.match(
      await wrongIn(context, `defineAgent({ name: 'a b', model: policyModel(() => 'x') })\nexport default {}`),
      /^escapement\.config\.ts:2: Agent "a b": name: /,
    )
  })

  it('in JavaScript that cannot be parsed names the line too', { timeoutMs: 10_000 }, async (context) => {
    assert.match(
      await wrongIn(context, 'export default {\n  a: 1\n  b: 2\n}', 'escapement.config.js'),
      /^escapement\.config\.js:4: /,
    )
  })

  it('is told of where it stands above, not used with noConfig, and taken by its name', async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`export default defineConfig({ model: 'a:b' })`),
      'other.ts': configText(`export default defineConfig({ model: 'c:d' })`),
      'a/x': '',
    })
    mkdirSync(join(dir, '.git'))
    let said = ''
    const stderr = { write: (text: string) => (said += text) !== '' } as NodeJS.WriteStream & { fd: 2 }
    const load = async (cwd: string, wish = {}) =>
      (await loadConfig({ dir: undefined, config: undefined, noConfig: false, ...wish }, { cwd: () => cwd, stderr }))
        ?.model
    assert.is(await load(dir), 'a:b')
    assert.is(said, '')
    assert.is(await load(join(dir, 'a')), 'a:b')
    assert.is(said, 'Configuration: ../escapement.config.ts\n')
    assert.is(await load('/', { dir }), 'a:b')
    assert.is(await load(dir, { noConfig: true }), undefined)
    assert.is(await load(join(dir, 'a'), { config: '../other.ts' }), 'c:d')
    await assert.rejects(load(dir, { config: 'gone.ts' }), withCode('INVALID_OPTION', 'does not exist'))
  })
})
