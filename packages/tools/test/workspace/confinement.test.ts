import { toolContext } from '../../../../test/support/toolContext.ts'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { localWorkspace } from '../../src/workspace/localWorkspace.ts'
import { filesIn, searchIn } from '../../src/workspace/searchIn.ts'
import { workspaceTools } from '../../src/workspace/workspaceTools.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { caller, workspaceFolder } from './workspaceFolder.ts'

const refused = /is outside the workspace .*; use a path relative to it|broken symbolic link, which may point outside/

/** Every tool that takes a path, with the rest of its input. */
const attempts: readonly (readonly [tool: string, key: string, rest: object])[] = [
  ['read_file', 'path', {}],
  ['write_file', 'path', { content: 'overwritten' }],
  ['edit_file', 'path', { oldText: 'secret', newText: 'overwritten' }],
  ['list_files', 'path', {}],
  ['search_files', 'path', { pattern: 'secret' }],
  ['run_command', 'cwd', { command: 'cat secret.txt' }],
]

describe('workspace confinement', (it) => {
  for (const [tool, key, rest] of attempts) {
    it(`refuses ${tool} every way out by its ${key}, and leaves the outside as it is`, async (context) => {
      const { dir, outside, call } = workspaceFolder(context, { 'a/inside.txt': 'inside\n' })
      symlinkSync(join(outside, 'secret.txt'), join(dir, 'file-link'))
      symlinkSync(outside, join(dir, 'dir-link'))
      symlinkSync('../../outside', join(dir, 'a', 'relative-link'))
      symlinkSync('dir-link', join(dir, 'link-to-link'))
      symlinkSync(join(outside, 'new.txt'), join(dir, 'dangling-file'))
      symlinkSync(join(outside, 'new-folder'), join(dir, 'dangling-dir'))
      symlinkSync('dangling-file', join(dir, 'dangling-chain'))
      const ways = [
        '..',
        '../outside/secret.txt',
        'a/../../outside/secret.txt',
        './a/./.././../outside',
        '/',
        '/etc/passwd',
        '/etc/passwd/below-a-file',
        outside,
        join(outside, 'secret.txt'),
        `${dir}/../outside/secret.txt`,
        `${dir}-sibling/secret.txt`,
        'file-link',
        'dir-link',
        'dir-link/secret.txt',
        'dir-link/new/file.txt',
        'a/relative-link/secret.txt',
        'link-to-link/secret.txt',
        'dangling-file',
        'dangling-chain',
        'dangling-dir/new.txt',
        'dangling-dir/deeper/new.txt',
        join(dir, 'dir-link', 'secret.txt'),
      ]
      for (const way of ways) {
        await assert.rejects(call(tool, { ...rest, [key]: way }), refused, `${tool} went along ${way}`)
      }
      await assert.rejects(call(tool, { ...rest, [key]: 'a\0/../../outside/secret.txt' }), /NUL/)
      assert.equal(readdirSync(outside), ['secret.txt'])
      assert.is(readFileSync(join(outside, 'secret.txt'), 'utf8'), 'the secret\n')
    })
  }

  it('sees a folder that became a link between two calls', async (context) => {
    const { dir, outside, call } = workspaceFolder(context, { 'sub/secret.txt': 'withoutControls\n' })
    assert.is(await call('read_file', { path: 'sub/secret.txt' }), 'withoutControls\n')
    rmSync(join(dir, 'sub'), { recursive: true })
    symlinkSync(outside, join(dir, 'sub'))
    await assert.rejects(call('read_file', { path: 'sub/secret.txt' }), refused)
    await assert.rejects(call('write_file', { path: 'sub/secret.txt', content: '' }), refused)
    await assert.rejects(call('write_file', { path: 'sub/new.txt', content: '' }), refused)
  })

  it('refuses everything once the workspace itself was replaced by a link', async (context) => {
    const { dir, outside, call } = workspaceFolder(context, { 'secret.txt': 'withoutControls\n' })
    renameSync(dir, `${dir}-moved`)
    symlinkSync(outside, dir)
    await assert.rejects(call('read_file', { path: 'secret.txt' }), refused)
    await assert.rejects(call('write_file', { path: 'new.txt', content: '' }), refused)
    assert.is(existsSync(join(outside, 'new.txt')), false)
  })

  it('does not list or search behind links', async (context) => {
    const { dir, outside, call } = workspaceFolder(context, { 'a.txt': 'no match\n' })
    symlinkSync(outside, join(dir, 'dir-link'))
    symlinkSync(join(outside, 'secret.txt'), join(dir, 'file-link'))
    symlinkSync('.', join(dir, 'loop'))
    assert.is(await call('list_files', {}), 'a.txt\ndir-link (link)\nfile-link (link)\nloop (link)')
    assert.is(await call('search_files', { pattern: 'secret' }), '[no match in 1 file]')
  })

  it('reads nothing in a folder that became a link after it was looked at', async (context) => {
    const { dir, outside } = workspaceFolder(context, { 'src/secret.txt': 'no match\n' })
    writeFileSync(join(outside, 'secret.txt'), 'the secret\r\n')
    const request = { folder: dir, prefix: '', pattern: 'secret', flags: '', limit: 10, around: 10 }
    const messages: string[] = []
    for await (const message of searchIn(request, filesIn(dir, request))) {
      messages.push(message.type)
      if (message.type !== 'file') continue
      renameSync(join(dir, 'src'), join(dir, 'moved'))
      symlinkSync(outside, join(dir, 'src'))
    }
    assert.equal(messages, ['file', 'done'])
    const reading = localWorkspace(dir).read('src/secret.txt', { signal: context.signal, maxBytes: 100 })
    await assert.rejects(reading, refused)
  })

  it('follows links that stay inside and takes absolute paths inside', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'real/a.txt': 'one\n' })
    symlinkSync('real', join(dir, 'alias'))
    symlinkSync('a.txt', join(dir, 'real', 'b.txt'))
    assert.is(await call('read_file', { path: 'alias/b.txt' }), 'one\n')
    assert.is(await call('read_file', { path: join(dir, 'real/a.txt') }), 'one\n')
    await call('write_file', { path: 'alias/b.txt', content: 'two\n' })
    assert.is(readFileSync(join(dir, 'real/a.txt'), 'utf8'), 'two\n')
    assert.is(await call('read_file', { path: 'alias/../real/./a.txt' }), 'two\n')
    writeFileSync(join(dir, '..hidden'), 'dots\n')
    assert.is(await call('read_file', { path: '..hidden' }), 'dots\n')
  })

  it('takes a workspace given as a link, by both of its names', async (context) => {
    const { dir } = workspaceFolder(context, { 'a.txt': 'one\n' })
    symlinkSync(dir, `${dir}-alias`)
    const call = caller(`${dir}-alias`)
    assert.is(await call('read_file', { path: 'a.txt' }), 'one\n')
    assert.is(await call('read_file', { path: `${dir}-alias/a.txt` }), 'one\n')
    assert.is(await call('read_file', { path: `${dir}/a.txt` }), 'one\n')
    rmSync(`${dir}-alias`)
    assert.is(await call('read_file', { path: 'a.txt' }), 'one\n')
  })

  it('refuses to be made for a folder that is missing or is a file, or with options it does not know', (context) => {
    const { dir } = workspaceFolder(context, { 'a.txt': '' })
    const invalid = (error: unknown): boolean => error instanceof RuntimeError && error.code === 'INVALID_OPTION'
    assert.throws(() => workspaceTools(join(dir, 'missing')), invalid)
    assert.throws(() => workspaceTools(join(dir, 'a.txt')), invalid)
    assert.throws(() => workspaceTools(''), invalid)
    assert.throws(() => workspaceTools(dir, { needsApproval: { runCommand: true } as object }), invalid)
    assert.throws(() => workspaceTools(dir, { commandTimeoutMs: 0 }), invalid)
  })

  it('asks for approval as it was told, tool by tool', async (context) => {
    const { dir } = workspaceFolder(context)
    mkdirSync(join(dir, 'x'))
    const tools = workspaceTools(dir, {
      needsApproval: { run_command: true, write_file: ({ path }) => path.endsWith('.env') },
    })
    const asked = async (name: string, input: object) =>
      tools.find((tool) => tool.name === name)?.needsApproval(input, toolContext())
    assert.is(await asked('run_command', { command: 'ls' }), true)
    assert.is(await asked('write_file', { path: '.env' }), true)
    assert.is(await asked('write_file', { path: 'a.txt' }), false)
    assert.is(await asked('read_file', { path: '.env' }), false)
    assert.equal(
      tools.map((tool) => tool.name),
      ['read_file', 'write_file', 'edit_file', 'list_files', 'search_files', 'run_command'],
    )
    assert.match(tools[5]?.description ?? '', /not sandboxed/)
  })
})
