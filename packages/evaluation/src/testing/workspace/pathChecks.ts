import type { Workspace } from '../../../../tools/src/workspace/port.ts'
import {
  bytesOf,
  check,
  type Checks,
  checkWith,
  demand,
  demandEqual,
  demandRefusal,
  entriesOf,
  never,
  pathsOf,
  readText,
  run,
  write,
} from './demands.ts'

/** Returns the operations that take a path. */
const doors = (
  workspace: Workspace,
  path: string,
  hasCommands: boolean,
): { readonly [name: string]: () => Promise<unknown> } => ({
  read: () => workspace.read(path, { signal: never, maxBytes: 100 }),
  write: () => workspace.write(path, bytesOf('overwritten'), { signal: never }),
  remove: () => workspace.remove(path, { signal: never }),
  list: () => entriesOf(workspace, path),
  'flat list': () => entriesOf(workspace, path, { deep: false }),
  ...(hasCommands ? { exec: () => run(workspace, 'pwd', { cwd: path }) } : {}),
})

async function demandShut(workspace: Workspace, path: string, hasCommands: boolean): Promise<void> {
  for (const [door, open] of Object.entries(doors(workspace, path, hasCommands)))
    await demandRefusal(open, 'WORKSPACE_PATH', `${door} must refuse the path ${JSON.stringify(path)}.`)
}

const waysOut = (root: string): readonly string[] => [
  '..',
  '../x',
  'a/../..',
  'a/../../x',
  './a/./.././../x',
  '/',
  '/etc/passwd',
  `${root}/../x`,
  `${root}-sibling/x`,
  `${root}/..`,
]

/** Prepares a folder with links that lead out of it, and one that stays inside. */
async function withLinks(workspace: Workspace): Promise<void> {
  await write(workspace, 'real/inside.txt', 'inside')
  const links = [
    'ln -s /etc/passwd file-link',
    'ln -s /etc dir-link',
    'ln -s ../../../../../../../../etc/passwd real/relative-link',
    'ln -s dir-link link-to-link',
    'ln -s /no/such/place dangling',
    'ln -s dangling dangling-chain',
    'ln -s . loop',
    'ln -s real alias',
    'ln -s inside.txt real/same.txt',
    'ln -s itself itself',
  ]
  const { code, output } = await run(workspace, links.join(' && '))
  demand(code === 0, `links could not be made: ${output}`)
}

const linksOut = [
  'file-link',
  'dir-link',
  'dir-link/passwd',
  'real/relative-link',
  'link-to-link',
  'link-to-link/passwd',
  'dangling',
  'dangling-chain',
  'dangling/x',
  'itself',
]

export const pathChecks: Checks = {
  'refuses every path out of the root': check(async (workspace) => {
    await write(workspace, 'a/b', 'x')
    for (const path of waysOut(workspace.root)) await demandShut(workspace, path, false)
    demandEqual(await pathsOf(workspace, '.'), ['a/b'], 'nothing may have changed.')
  }),
  'starts no command out of the root': checkWith(['commands'], async (workspace) => {
    await write(workspace, 'a/b', 'x')
    for (const cwd of waysOut(workspace.root))
      await demandRefusal(
        () => run(workspace, 'touch here', { cwd }),
        'WORKSPACE_PATH',
        `exec must refuse to start in ${cwd}.`,
      )
    demandEqual(await pathsOf(workspace, '.'), ['a/b'], 'no command may have begun.')
  }),
  'refuses a NUL, and half a character': check(async (workspace) => {
    for (const path of ['a\0b', '\0', 'a\0/../../x', '\uD800', 'a/\uDC00b']) await demandShut(workspace, path, false)
  }),
  'takes `.` and `..` within the root, and an absolute path in it': check(async (workspace) => {
    await write(workspace, './a/x/../b.txt', 'one')
    demandEqual(await readText(workspace, 'a//./b.txt'), 'one', 'a path may have `.` and empty names.')
    demandEqual(await readText(workspace, `${workspace.root}/a/b.txt`), 'one', 'an absolute path in the root is taken.')
    demandEqual(await pathsOf(workspace, workspace.root), ['a/b.txt'], 'and so is the root itself.')
  }),
  'spells one place in one way': check(async (workspace) => {
    if (workspace.spell === undefined) return
    await write(workspace, 'a/b.txt', 'one')
    for (const path of ['a/b.txt', './a/b.txt', 'a/../a/b.txt', `${workspace.root}/a/b.txt`])
      demandEqual(workspace.spell(path, 'file'), 'a/b.txt', `${path} is one place.`)
    demandEqual(workspace.spell('.', 'folder'), '.', 'the root is a dot.')
    for (const path of waysOut(workspace.root)) {
      const spell = async (): Promise<string> => workspace.spell!(path, 'folder')
      await demandRefusal(spell, 'WORKSPACE_PATH', `spell must refuse ${path}.`)
    }
  }),
  'refuses every link out, and links that lead nowhere': checkWith(['links'], async (workspace) => {
    await withLinks(workspace)
    for (const path of linksOut) await demandShut(workspace, path, true)
    const kept = await run(workspace, 'cat real/inside.txt; ls | wc -l')
    demandEqual(kept.output.replaceAll(' ', ''), 'inside9\n', 'nothing may have changed.')
  }),
  'takes a link inside for the place it leads to, or refuses it': checkWith(['links'], async (workspace) => {
    await withLinks(workspace)
    for (const path of ['alias/inside.txt', 'real/same.txt', 'loop/real/inside.txt']) {
      if (workspace.spell === undefined) await demandShut(workspace, path, false)
      else {
        demandEqual(await readText(workspace, path), 'inside', `${path} leads to the file.`)
        demandEqual(workspace.spell(path, 'file'), 'real/inside.txt', `${path} is spelled as the file.`)
      }
    }
  }),
  'follows no link that took the place of a folder': checkWith(['links'], async (workspace) => {
    await write(workspace, 'sub/a.txt', 'mine')
    await run(workspace, 'mv sub moved && ln -s /etc sub')
    await demandRefusal(() => write(workspace, 'sub/a.txt', 'x'), 'WORKSPACE_PATH', 'write must see the link.')
    await demandRefusal(() => entriesOf(workspace, 'sub'), 'WORKSPACE_PATH', 'list must see the link.')
    demandEqual(await readText(workspace, 'moved/a.txt'), 'mine', 'the file stays.')
  }),
  'lists links as links, and what is behind them not at all': checkWith(['links'], async (workspace) => {
    await withLinks(workspace)
    const found = await entriesOf(workspace, '.')
    const links = found.filter(({ type }) => type === 'link').map(({ path }) => path)
    demandEqual(
      links,
      [
        'alias',
        'dangling',
        'dangling-chain',
        'dir-link',
        'file-link',
        'itself',
        'link-to-link',
        'loop',
        'real/relative-link',
        'real/same.txt',
      ],
      'each link is one entry.',
    )
    demandEqual(
      found.filter(({ type }) => type !== 'link'),
      [{ path: 'real/inside.txt', type: 'file' }],
      'and the file is the other.',
    )
  }),
  'refuses devices and pipes': checkWith(['links'], async (workspace) => {
    const { code } = await run(workspace, 'mkfifo pipe')
    if (code !== 0) return
    await demandRefusal(
      () => workspace.read('pipe', { signal: never, maxBytes: 1 }),
      'WORKSPACE_KIND',
      'a pipe is not read.',
    )
    await demandRefusal(() => write(workspace, 'pipe', 'x'), 'WORKSPACE_KIND', 'a pipe is not replaced.')
  }),
  'lists a folder: deep, flat, and with folders skipped': check(async (workspace) => {
    for (const path of ['a.txt', 'src/b.ts', 'src/deep/c.ts', 'node_modules/x/d.js', 'src/node_modules/e.js'])
      await write(workspace, path, path)
    demandEqual(
      await pathsOf(workspace, '.'),
      ['a.txt', 'node_modules/x/d.js', 'src/b.ts', 'src/deep/c.ts', 'src/node_modules/e.js'],
      'a deep list has every file.',
    )
    const skip = new Set(['node_modules', '.git'])
    demandEqual(
      await pathsOf(workspace, '.', { skip }),
      ['a.txt', 'src/b.ts', 'src/deep/c.ts'],
      'skipped folders are not entered.',
    )
    demandEqual(
      await pathsOf(workspace, 'node_modules', { skip }),
      ['x/d.js'],
      'but the listed folder may have such a name.',
    )
    demandEqual(
      await pathsOf(workspace, 'src', { skip: new Set() }),
      ['b.ts', 'deep/c.ts', 'node_modules/e.js'],
      'paths are relative to the listed folder.',
    )
    demandEqual(
      await entriesOf(workspace, '.', { deep: false }),
      [
        { path: 'a.txt', type: 'file' },
        { path: 'node_modules', type: 'folder' },
        { path: 'src', type: 'folder' },
      ],
      'a flat list has the entries of one folder.',
    )
  }),
  'lists no more than was asked for': check(async (workspace) => {
    for (let index = 0; index < 8; index++) await write(workspace, `folder/f${index}`, '')
    demandEqual((await pathsOf(workspace, 'folder', { limit: 5 })).length, 5, 'limit bounds a deep list.')
    demandEqual((await pathsOf(workspace, 'folder', { limit: 5, deep: false })).length, 5, 'limit bounds a flat list.')
    demandEqual((await pathsOf(workspace, 'folder', { limit: 8 })).length, 8, 'a limit that is met leaves nothing out.')
  }),
  'lists nothing for an empty root, and refuses what is no folder': check(async (workspace) => {
    demandEqual(await entriesOf(workspace, '.'), [], 'an empty root has no entries.')
    demandEqual(await entriesOf(workspace, '.', { deep: false }), [], 'nor has it flat ones.')
    await write(workspace, 'a', 'x')
    for (const deep of [true, false]) {
      await demandRefusal(() => entriesOf(workspace, 'a', { deep }), 'WORKSPACE_KIND', 'a file is no folder.')
      await demandRefusal(() => entriesOf(workspace, 'none', { deep }), 'WORKSPACE_MISSING', 'there must be a folder.')
    }
  }),
}
