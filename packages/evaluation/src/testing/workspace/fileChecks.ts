import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
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
  readBytes,
  readText,
  write,
} from './demands.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const sixteenMiB = 16 * 1024 * 1024

/** Names that a careless implementation would misread. */
const awkwardNames = [
  'a b',
  "it's",
  '"quoted"',
  '$HOME',
  '`id`',
  '$(id)',
  '-rf',
  '*',
  '?',
  '[a]',
  ';',
  '&',
  '#',
  '~',
  'é',
  '漢字',
  '🙂',
  '..a',
  'a..',
  '%41',
  '{a,b}',
  'x'.repeat(200),
]

export const fileChecks: Checks = {
  'gives back what was written, byte for byte': check(async (workspace) => {
    const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256)
    await write(workspace, 'a.bin', bytes)
    demandEqual([...((await readBytes(workspace, 'a.bin')) ?? [])], [...bytes], 'no byte may change.')
  }),
  'keeps a file of no bytes': check(async (workspace) => {
    await write(workspace, 'empty', '')
    const file = await workspace.read('empty', { signal: never, maxBytes: 10 })
    demandEqual([file?.bytes.length, file?.size], [0, 0], 'an empty file is there, and empty.')
  }),
  'keeps a file of 16 MiB': check(async (workspace) => {
    const bytes = new Uint8Array(sixteenMiB).map((_, index) => (index * 7 + (index >> 8)) % 256)
    await write(workspace, 'large', bytes)
    const back = await readBytes(workspace, 'large')
    demand(back !== null && Buffer.compare(back, bytes) === 0, 'a file of 16 MiB must come back as it was.')
  }),
  'gives null for a file that is not there, nor its folder': check(async (workspace) => {
    demandEqual(await readBytes(workspace, 'none'), null, 'a missing file is null.')
    demandEqual(await readBytes(workspace, 'no/such/file'), null, 'a file in a missing folder is null.')
  }),
  'creates the folders of a new file': check(async (workspace) => {
    await write(workspace, 'a/b/c/d.txt', 'deep')
    demandEqual(await readText(workspace, 'a/b/c/d.txt'), 'deep', 'missing folders must be created.')
    demandEqual(await pathsOf(workspace, '.'), ['a/b/c/d.txt'], 'and nothing else.')
  }),
  'replaces a file as a whole': check(async (workspace) => {
    await write(workspace, 'a', 'a longer text')
    await write(workspace, 'a', 'short')
    demandEqual(await readText(workspace, 'a'), 'short', 'nothing of the old content may be left.')
    demandEqual(await pathsOf(workspace, '.'), ['a'], 'no other file may be left behind.')
  }),
  'reads a part of a file, and says how large all of it is': check(async (workspace) => {
    await write(workspace, 'a', '0123456789')
    const part = async (offset: number, maxBytes: number): Promise<unknown> => {
      const file = await workspace.read('a', { signal: never, offset, maxBytes })
      return [file === null ? null : Buffer.from(file.bytes).toString(), file?.size]
    }
    demandEqual(await part(0, 4), ['0123', 10], 'maxBytes bounds what is read.')
    demandEqual(await part(3, 4), ['3456', 10], 'offset says where it begins.')
    demandEqual(await part(8, 100), ['89', 10], 'the end of the file ends the part.')
    demandEqual(((await part(10, 5)) as unknown[])[0], '', 'there is nothing at the end.')
    demandEqual(((await part(50, 5)) as unknown[])[0], '', 'nor beyond it.')
    demandEqual(await part(0, 0), ['', 10], 'no bytes may be asked for, to learn the size.')
  }),
  'reads parts of a large file that fit together': check(async (workspace) => {
    const bytes = new Uint8Array(300_000).map((_, index) => (index * 31) % 251)
    await write(workspace, 'large', bytes)
    const pieces: Uint8Array[] = []
    for (let offset = 0; offset < bytes.length; offset += 70_001)
      pieces.push(
        (await workspace.read('large', { signal: never, offset, maxBytes: 70_001 }))?.bytes ?? new Uint8Array(),
      )
    demand(Buffer.compare(Buffer.concat(pieces), bytes) === 0, 'the parts must be the whole.')
  }),
  'refuses to read or write a folder': check(async (workspace) => {
    await write(workspace, 'folder/a', 'x')
    await demandRefusal(() => readBytes(workspace, 'folder'), 'WORKSPACE_KIND', 'a folder is not read.')
    await demandRefusal(() => write(workspace, 'folder', 'x'), 'WORKSPACE_KIND', 'a folder is not replaced.')
    await demandRefusal(() => readBytes(workspace, '.'), 'WORKSPACE_KIND', 'the root is not read.')
    await demandRefusal(() => write(workspace, '.', 'x'), 'WORKSPACE_KIND', 'the root is not replaced.')
    demandEqual(await readText(workspace, 'folder/a'), 'x', 'what is in the folder stays.')
  }),
  'refuses a path below a file': check(async (workspace) => {
    await write(workspace, 'file', 'x')
    await demandRefusal(() => write(workspace, 'file/a', 'y'), 'WORKSPACE_PATH', 'a file is no folder.')
    await demandRefusal(() => write(workspace, 'file/a/b', 'y'), 'WORKSPACE_PATH', 'a file is no folder, deeper.')
    await demandRefusal(() => readBytes(workspace, 'file/a'), 'WORKSPACE_PATH', 'a file is no folder to read in.')
    demandEqual(await readText(workspace, 'file'), 'x', 'the file stays.')
  }),
  'removes a file': check(async (workspace) => {
    await write(workspace, 'a', 'x')
    await write(workspace, 'b', 'y')
    await workspace.remove('a', { signal: never })
    demandEqual(await pathsOf(workspace, '.'), ['b'], 'the file must be gone, and no other.')
    await demandRefusal(() => workspace.remove('a', { signal: never }), 'WORKSPACE_MISSING', 'it is gone already.')
  }),
  'removes a folder only if nothing is in it': check(async (workspace) => {
    await write(workspace, 'a/b/.hidden', 'x')
    await demandRefusal(() => workspace.remove('a/b', { signal: never }), 'WORKSPACE_KIND', 'a hidden file is one.')
    await demandRefusal(
      () => workspace.remove('a', { signal: never }),
      'WORKSPACE_KIND',
      'a folder in it is something.',
    )
    await workspace.remove('a/b/.hidden', { signal: never })
    await workspace.remove('a/b', { signal: never })
    await workspace.remove('a', { signal: never })
    demandEqual(await entriesOf(workspace, '.', { deep: false }), [], 'empty folders are removed.')
    await demandRefusal(() => workspace.remove('.', { signal: never }), 'WORKSPACE_KIND', 'the root stays.')
  }),
  'writes over what it expects, and over nothing else': check(async (workspace) => {
    const put = (text: string, expect: string | null): Promise<void> =>
      workspace.write('a', bytesOf(text), { signal: never, expect })
    await put('one', null)
    await put('two', hashOf('one'))
    await demandRefusal(() => put('three', hashOf('one')), 'WORKSPACE_CHANGED', 'another content must be kept.')
    await demandRefusal(() => put('three', null), 'WORKSPACE_CHANGED', 'a file where none is expected must be kept.')
    demandEqual(await readText(workspace, 'a'), 'two', 'a refusal changes nothing.')
    demandEqual(await pathsOf(workspace, '.'), ['a'], 'a refusal leaves no other file.')
    await workspace.remove('a', { signal: never })
    await demandRefusal(
      () => put('three', hashOf('two')),
      'WORKSPACE_CHANGED',
      'a file that is gone is not made again.',
    )
    demandEqual(await readBytes(workspace, 'a'), null, 'a refusal makes no file.')
  }),
  'takes a copy of the bytes, and gives one': check(async (workspace) => {
    const bytes = bytesOf('before')
    await write(workspace, 'a', bytes)
    bytes.fill(0)
    const back = await readBytes(workspace, 'a')
    back?.fill(0)
    demandEqual(await readText(workspace, 'a'), 'before', 'bytes of callers are theirs.')
  }),
  'takes awkward names as they are': check(async (workspace) => {
    const isWindows = workspace.folder !== undefined && process.platform === 'win32'
    const taken = awkwardNames.filter((name) => !name.endsWith('..') && !(isWindows && /[<>:"|?*\n]/.test(name)))
    for (const name of taken) await write(workspace, `folder/${name}`, name)
    for (const name of taken)
      demandEqual(await readText(workspace, `folder/${name}`), name, `the name ${JSON.stringify(name)} is one.`)
    demandEqual(
      await pathsOf(workspace, 'folder'),
      taken.toSorted((a, b) => (a < b ? -1 : 1)),
      'lists give names as they are.',
    )
    for (const name of taken) await workspace.remove(`folder/${name}`, { signal: never })
    demandEqual(await pathsOf(workspace, 'folder'), [], 'all of them can be removed.')
  }),
  'finds a name in another normal form by what lists say': check(async (workspace) => {
    const decomposed = 'Cafe\u0301.txt'
    await write(workspace, decomposed, 'one')
    const [name = ''] = await pathsOf(workspace, '.')
    demandEqual(name.normalize('NFC'), decomposed.normalize('NFC'), 'a name must look as it was written.')
    demandEqual(await readText(workspace, name), 'one', 'a name from a list must be found.')
    demandEqual(await readText(workspace, decomposed), 'one', 'and so must the name that was written.')
  }),
  'keeps the mode of a file, and gives a new one that is asked for': checkWith(['modes'], async (workspace) => {
    const modeOf = async (path: string): Promise<number | undefined> =>
      (await workspace.read(path, { signal: never, maxBytes: 0 }))?.mode
    await workspace.write('run.sh', bytesOf('#!/bin/sh\n'), { signal: never, mode: 0o755 })
    demandEqual(await modeOf('run.sh'), 0o755, 'a new file has the mode that is asked for.')
    await workspace.write('run.sh', bytesOf('#!/bin/sh\nexit\n'), { signal: never, mode: 0o600 })
    demandEqual(await modeOf('run.sh'), 0o755, 'a file that is replaced keeps its mode.')
  }),
  'writes many files at once': check(async (workspace) => {
    const names = Array.from({ length: 12 }, (_, index) => `folder${index % 3}/file${index}`)
    await Promise.all(names.map((name) => write(workspace, name, name)))
    for (const name of names) demandEqual(await readText(workspace, name), name, 'no write may disturb another.')
  }),
  'writes one file from many sides, and keeps one of them whole': check(async (workspace) => {
    const contents = Array.from({ length: 6 }, (_, index) => String(index).repeat(200_000))
    await Promise.all(contents.map((content) => write(workspace, 'a', content)))
    demand(contents.includes((await readText(workspace, 'a')) ?? ''), 'the file must be one of them, and whole.')
    demandEqual(await pathsOf(workspace, '.'), ['a'], 'no other file may be left behind.')
  }),
  'shows readers the old content or the new': check(async (workspace) => {
    const contents = ['a'.repeat(400_000), 'b'.repeat(100_000)]
    await write(workspace, 'a', contents[0]!)
    const writing = (async () => {
      for (let round = 0; round < 6; round++) await write(workspace, 'a', contents[round % 2]!)
    })()
    for (let round = 0; round < 12; round++)
      demand(contents.includes((await readText(workspace, 'a')) ?? ''), 'a reader must never see a part.')
    await writing
  }),
  'does nothing once its signal is aborted': check(async (workspace) => {
    await write(workspace, 'a', 'old')
    const reason = new Error('stop')
    const signal = AbortSignal.abort(reason)
    const listed = async (): Promise<void> => {
      for await (const _ of workspace.list('.', { signal, limit: 1, deep: true })) break
    }
    await demandRefusal(() => workspace.read('a', { signal, maxBytes: 1 }), { reason }, 'read must stop.')
    await demandRefusal(() => workspace.write('a', bytesOf('new'), { signal }), { reason }, 'write must stop.')
    await demandRefusal(() => workspace.remove('a', { signal }), { reason }, 'remove must stop.')
    await demandRefusal(listed, { reason }, 'list must stop.')
    demandEqual(await readText(workspace, 'a'), 'old', 'nothing may have changed.')
  }),
  'leaves the old file or the new, and no other, when a write is aborted in the middle': check(async (workspace) => {
    await write(workspace, 'a', 'old')
    const news = new Uint8Array(sixteenMiB).fill(120)
    for (const delay of [0, 1, 10, 30]) {
      const controller = new AbortController()
      const reason = new Error('stop')
      const writing = workspace.write('a', news, { signal: controller.signal }).then(
        () => 'written',
        (thrown: unknown) => thrown,
      )
      await pause(delay)
      controller.abort(reason)
      const end = await writing
      demand(end === 'written' || end === reason, `an aborted write must reject with the reason, not: ${String(end)}`)
      const now = await readBytes(workspace, 'a')
      const isOld = now !== null && Buffer.from(now).equals(Buffer.from('old'))
      const isNew = now !== null && Buffer.compare(now, news) === 0
      demand(end === reason ? isOld || isNew : isNew, 'the file must be the old or the new.')
      demandEqual(await pathsOf(workspace, '.'), ['a'], 'no other file may be left behind.')
      await write(workspace, 'a', 'old')
    }
  }),
}
