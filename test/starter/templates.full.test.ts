import { copyFile, cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { templateNames, type TemplateName } from '../../create-escapement/src/templates.ts'
import { startChild, type CliChild } from '../../packages/cli/test/cliChild.ts'
import { npm } from '../bundlers/packedPackage.ts'
import { assert, describe, isCi, type CaseContext } from '../support/suite.ts'
import { runtimes, starterPackages } from './runtimes.ts'
import { openStarterLab, type StarterLab } from './starterLab.ts'

// Packing, building and four runtimes, on a machine that does more.
const timeoutMs = 300_000

/** Session of a person with each, and what they see. */
const uses: Readonly<Record<TemplateName, (child: CliChild, project: string) => Promise<void>>> = {
  async chat(child, project) {
    await child.until('> ')
    child.send('remember to feed the cat\n')
    await child.until('It is written down.')
    child.send('what do I have to remember?\n')
    await child.until('feed the cat')
    child.endInput()
    assert.is((await child.ended).code, 0)
    assert.is(await readFile(join(project, 'notes.txt'), 'utf8'), 'feed the cat\n')
  },
  async coder(child, project) {
    await child.until('May it run {"command":"node --test"}?')
    child.send('y\n')
    await child.until('its test passes')
    assert.is((await child.ended).code, 0)
    assert.match(await readFile(join(project, 'project', 'median.js'), 'utf8'), '.toSorted((a, b) => a - b)')
  },
  async team(child, project) {
    await child.until('wants to publish')
    await child.until('May it?')
    child.send('y\n')
    await child.until('It is in three-escapements.md')
    assert.is((await child.ended).code, 0)
    assert.match(await readFile(join(project, 'published', 'three-escapements.md'), 'utf8'), /^# Three escapements\n/)
  },
  async web(child) {
    await child.until('http://127.0.0.1:')
    await child.until('/\n')
    const [address = ''] = /http:\S+/.exec(child.stdout) ?? []
    const page = await fetch(address)
    assert.is(page.status, 200)
    assert.match(await page.text(), '<title>Support</title>')
    child.signal('SIGINT')
    assert.is((await child.ended).code, 0)
  },
}

/** Makes a project by the packed starter, with its packages. */
async function created(context: CaseContext, lab: StarterLab, template: TemplateName, name: string): Promise<string> {
  const project = join(lab.root, name)
  const { code, stdout, stderr } = await startChild(
    context,
    [process.execPath, lab.program, name, '--template', template],
    { cwd: lab.root, input: '' },
  ).ended
  assert.is(code, 0, stderr)
  assert.match(stdout, `cd ${name}`)
  await lab.equip(project)
  return project
}

async function run(context: CaseContext, cwd: string, ...command: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await startChild(context, command, { cwd, input: '' }).ended
  assert.is(code, 0, `${command.join(' ')}\n${stdout}\n${stderr}`)
}

describe('a project of the starter', (it) => {
  if (!starterPackages.isThere()) {
    const missing = `packages are missing; ${starterPackages.advice}`
    const title = 'is built and run'
    return isCi() ? it(title, () => assert.unreachable(missing)) : it.skip(`${title} (skipped: ${missing})`)
  }
  const script = (name: string): string => join('node_modules', name)

  for (const template of templateNames)
    it(`of the template ${template} is built, passes its test, and runs everywhere`, { timeoutMs }, async (context) => {
      const lab = await openStarterLab(context)
      const project = await created(context, lab, template, 'first')
      await run(context, project, process.execPath, script('typescript/bin/tsc'))
      if (template === 'web') await run(context, project, process.execPath, script('vite/bin/vite.js'), 'build')
      await run(context, project, process.execPath, '--test', 'src/**/*.test.ts')
      for (const [name, commandOf] of Object.entries(runtimes)) {
        const command = commandOf()
        if (command === undefined) {
          assert.not.ok(isCi(), `there is no ${name}`)
          continue
        }
        const own = await created(context, lab, template, name.toLowerCase().replace(' ', '-'))
        if (template === 'web') await cp(join(project, 'dist'), join(own, 'dist'), { recursive: true })
        const child = startChild(context, [...command, 'src/main.ts'], { cwd: own, env: { PORT: '0' } })
        await uses[template](child, own).catch((thrown: unknown) => {
          throw new Error(`${name}: ${(thrown as Error).message}`, { cause: thrown })
        })
        if (template !== 'web') assert.ok((await readdir(join(own, '.escapement'))).length > 0)
      }
    })

  it('is installed by npm from the packed tarball', { timeoutMs }, async (context) => {
    const lab = await openStarterLab(context)
    const folder = join(lab.modules, 'escapement')
    const project = await created(context, lab, 'chat', 'installed')
    // As npm packs it, without building it again.
    await npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', lab.root], folder, context.signal)
    const tarball = (await readdir(lab.root)).find((name) => /^escapement-\d.*\.tgz$/.test(name))!
    const own = join(lab.root, 'own')
    await cp(project, own, { recursive: true, filter: (path) => !path.endsWith('node_modules') })
    const manifest = await readFile(join(own, 'package.json'), 'utf8')
    await copyFile(join(lab.root, tarball), join(own, 'escapement.tgz'))
    await writeFile(
      join(own, 'package.json'),
      manifest.replace(/"escapement": "[^"]+"/, '"escapement": "file:escapement.tgz"'),
    )
    await npm(['install', '--no-audit', '--no-fund', '--prefer-offline'], own, context.signal)
    await npm(['run', 'build'], own, context.signal)
    await npm(['test'], own, context.signal)
    const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly start: string } }
    const [, ...words] = scripts.start.split(' ')
    const env = { NODE_COMPILE_CACHE: '' }
    const { code, stderr } = await startChild(context, [process.execPath, ...words], { cwd: own, input: '', env }).ended
    assert.is(code, 0, stderr)
    assert.ok((await readdir(join(own, 'node_modules', '.cache', 'compiled'))).length > 0)
  })

  it('is not made where something is in the way, or nobody can be asked', { timeoutMs }, async (context) => {
    const { root, program } = await openStarterLab(context)
    await writeFile(join(root, 'mine'), 'mine')
    for (const [words, code, said] of [
      [['mine', '-t', 'chat'], 1, /create-escapement: .*mine is a file/],
      [['.', '-t', 'chat'], 1, /is not empty/],
      [['new'], 2, /Say what to create, such as: create-escapement my-agents --template chat/],
      [['--template', 'none', 'new'], 2, /There is no template "none"/],
    ] as const) {
      const end = await startChild(context, [process.execPath, program, ...words], { cwd: root, input: '' }).ended
      assert.is(end.code, code, words.join(' '))
      assert.match(end.stderr, said)
      assert.is(end.stdout, '')
    }
    assert.is(await readFile(join(root, 'mine'), 'utf8'), 'mine')
  })
})
