import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { askFor } from '../../create-escapement/src/askFor.ts'
import { CreateError, createProject, packageName } from '../../create-escapement/src/createProject.ts'
import { readArguments } from '../../create-escapement/src/readArguments.ts'
import { shellWord } from '../../create-escapement/src/shellWord.ts'
import { templateNames } from '../../create-escapement/src/templates.ts'
import { projectFolder } from '../../packages/cli/test/cliChild.ts'
import { assert, describe } from '../support/suite.ts'

const repository = join(import.meta.dirname, '..', '..')
const templatesFolder = join(repository, 'create-escapement', 'templates')
const options = { templatesFolder, version: '1.2.3' }

interface Manifest {
  readonly name: string
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifestIn = async (...way: readonly string[]): Promise<Manifest> =>
  JSON.parse(await readFile(join(...way, 'package.json'), 'utf8')) as Manifest

describe('the arguments of create-escapement', (it) => {
  it('are a folder and a template, each of which may be left to be asked for', () => {
    assert.equal(readArguments([]), { type: 'create', folder: undefined, template: undefined })
    assert.equal(readArguments(['a', '--template', 'team']), { type: 'create', folder: 'a', template: 'team' })
    assert.equal(readArguments(['-t', 'web', 'a']), { type: 'create', folder: 'a', template: 'web' })
    assert.equal(readArguments(['--template=chat']), { type: 'create', folder: undefined, template: 'chat' })
    assert.equal(readArguments(['a', '-h']), { type: 'help' })
    assert.equal(readArguments(['--version']), { type: 'version' })
  })

  it('are refused with what there is when they are something else', () => {
    for (const [words, said] of [
      [['a', 'b'], 'Give one folder; these are 2: a b'],
      [['--template', 'chatt'], 'There is no template "chatt": take chat, coder, team or web.'],
      [['--template'], 'There is no template "": take chat, coder, team or web.'],
      [['--template', 'constructor'], 'There is no template "constructor": take chat, coder, team or web.'],
      [['--force'], 'There is no option --force: there is --template.'],
    ] as const)
      assert.equal(readArguments(words), { type: 'mistake', message: said })
  })
})

describe('a project', (it) => {
  for (const template of templateNames)
    it(`of the template ${template} is named after its folder and depends on this version`, async (context) => {
      const { folder, name } = await createProject(join(projectFolder(context), 'My Clock'), template, options)
      assert.is(name, 'my-clock')
      const { dependencies, ...manifest } = await manifestIn(folder)
      assert.is(manifest.name, 'my-clock')
      assert.is(dependencies?.['escapement'], '^1.2.3')
      const names = await readdir(folder)
      assert.ok(names.includes('.gitignore'), names.join())
      assert.not.ok(names.includes('gitignore'), names.join())
      assert.match(await readFile(join(folder, '.gitignore'), 'utf8'), /^node_modules$/m)
    })

  it('goes into a folder that has nothing but what belongs to git or an editor', async (context) => {
    const folder = projectFolder(context)
    await mkdir(join(folder, '.git'))
    await createProject(folder, 'chat', options)
    assert.ok((await readdir(folder)).includes('src'))
  })

  it('goes into an empty folder that a link is for', async (context) => {
    const folder = projectFolder(context)
    await mkdir(join(folder, 'there'))
    await symlink(join(folder, 'there'), join(folder, 'link'))
    assert.is((await createProject(join(folder, 'link'), 'chat', options)).name, 'link')
    assert.ok((await readdir(join(folder, 'there'))).includes('.gitignore'))
  })

  it('is told how to get there in words that run nothing, whatever its folder is called', () => {
    for (const [folder, word] of [
      ['my-agents', 'my-agents'],
      ['../a/b.c', '../a/b.c'],
      ['a$&"b', `-- 'a$&"b'`],
      ['x$(touch owned)', "-- 'x$(touch owned)'"],
      ["it's", String.raw`-- 'it'\''s'`],
      ['-rf', "-- '-rf'"],
      ['a\nb', "-- 'a\nb'"],
    ] as const)
      assert.is(shellWord(folder, 'linux'), word)
    assert.is(shellWord('my agents', 'win32'), '"my agents"')
  })

  it('is refused where something is in the way, and leaves that as it is', async (context) => {
    const folder = projectFolder(context, { 'mine.txt': 'mine' })
    for (const [place, said] of [
      [folder, /is not empty \(mine\.txt\).*Nothing was written/],
      [join(folder, 'mine.txt'), /is a file/],
      [join(folder, 'mine.txt', 'below'), /is a file/],
    ] as const)
      await assert.rejects(createProject(place, 'chat', options), (thrown: unknown) => {
        assert.instance(thrown, CreateError)
        assert.match((thrown as Error).message, said)
        return true
      })
    assert.equal(await readdir(folder), ['mine.txt'])
  })

  it('leaves nothing behind where it could not be written', async (context) => {
    const broken = projectFolder(context, { 'chat/package.json/a': '', 'chat/src/a.ts': '', 'chat/gitignore': '' })
    const folder = join(projectFolder(context), 'new')
    await assert.rejects(createProject(folder, 'chat', { ...options, templatesFolder: broken }), /could not be written/)
    assert.equal(await readdir(folder), [])
  })

  it('has a name that npm takes, whatever its folder is called', () => {
    for (const [folder, name] of [
      ['My Clock', 'my-clock'],
      ['Ünïcode', 'u-ni-code'],
      ['.hidden', 'hidden'],
      ['日本', 'my-agents'],
      ['node_modules', 'my-agents'],
      ['', 'my-agents'],
      ['x'.repeat(300), 'x'.repeat(214)],
    ] as const)
      assert.is(packageName(folder), name, folder)
  })
})

describe('a person who is asked what to create', (it) => {
  const answering = async (
    said: string,
    wish = { type: 'create', folder: undefined, template: undefined } as const,
  ) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const asked = askFor(wish, { input, output })
    for (const line of said.split(/(?<=\n)/)) {
      input.write(line)
      // Each answer comes after its question.
      await new Promise((resolve) => setImmediate(resolve))
    }
    input.end()
    const answer = await asked
    output.end()
    return { answer, shown: await text(output) }
  }

  it('takes the defaults with Enter, or chooses by number or name', async () => {
    assert.equal((await answering('\n\n')).answer, { folder: 'my-agents', template: 'chat' })
    assert.equal((await answering(' here \n3\n')).answer, { folder: 'here', template: 'team' })
    assert.equal((await answering('here\nweb\n')).answer, { folder: 'here', template: 'web' })
  })

  it('is asked again after what is no template', async () => {
    const { answer, shown } = await answering('here\n5\ncoder\n')
    assert.equal(answer, { folder: 'here', template: 'coder' })
    assert.match(shown, 'There is no template "5": give a number from 1 to 4, or a name.')
  })

  it('may leave at any question', async () => {
    for (const said of ['', 'here\n']) assert.is((await answering(said)).answer, undefined, JSON.stringify(said))
  })
})

describe('the templates', (it) => {
  it('are listed, each a folder', async () => {
    assert.equal((await readdir(templatesFolder)).toSorted(), [...templateNames].toSorted())
  })

  it('depend on the versions that the repository is tested with', async () => {
    const own = await manifestIn(repository)
    const tested = { ...own.devDependencies, ...own.dependencies }
    const lab = await manifestIn(import.meta.dirname)
    for (const template of templateNames) {
      const { dependencies, devDependencies } = await manifestIn(templatesFolder, template)
      for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies })) {
        if (tested[name] !== undefined) assert.is(range, tested[name], `${template}: ${name}`)
        if (lab.dependencies?.[name] !== undefined) assert.is(range, lab.dependencies[name], `${template}: ${name}`)
      }
    }
  })

  it('share what is equal in all of them to the letter', async () => {
    for (const [file, among] of [
      ['gitignore', templateNames],
      ['src/model.ts', templateNames],
      ['tsconfig.json', ['chat', 'coder', 'team']],
      ['src/askPerson.ts', ['coder', 'team']],
    ] as const) {
      const texts = await Promise.all(among.map((name) => readFile(join(templatesFolder, name, file), 'utf8')))
      assert.is(new Set(texts).size, 1, file)
    }
  })

  it('are of the version of the package', async () => {
    const { version } = await manifestIn(repository)
    assert.is((await manifestIn(repository, 'create-escapement')).version, version)
  })

  it('are described in the README of the starter', async () => {
    const readme = await readFile(join(repository, 'create-escapement', 'README.md'), 'utf8')
    for (const name of templateNames) assert.match(readme, `| \`${name}\` |`)
  })
})

describe('a folder with a name of its own', (it) => {
  it('may be a link to an empty one', async (context) => {
    const place = projectFolder(context)
    await mkdir(join(place, 'real'))
    await symlink('real', join(place, 'link'))
    await createProject(join(place, 'link'), 'chat', options)
    assert.is((await manifestIn(place, 'real')).name, 'link')
  })

  it('is told of as one word of a shell', async (context) => {
    const place = projectFolder(context)
    for (const name of ['x$(touch owned)', 'a$&"b', "it's", '-x', 'two words', '`y`', '~']) {
      const main = join(repository, 'create-escapement', 'src', 'main.ts')
      const said = execFileSync(process.execPath, [main, `./${name}`, '--template', 'chat'], {
        cwd: place,
        encoding: 'utf8',
      })
      const [, cd] = /^ {2}(cd .*)$/m.exec(said) ?? []
      assert.is(execFileSync('sh', ['-c', `${cd} && basename "$PWD"`], { cwd: place, encoding: 'utf8' }), `${name}\n`)
    }
    assert.not.ok((await readdir(place)).includes('owned'))
  })
})
