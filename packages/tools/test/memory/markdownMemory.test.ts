import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileNameOf } from '../../src/memory/memoryFile.ts'
import { markdownMemory } from '../../src/memory/markdownMemory.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { fact, memoryFolder } from './memoryFolder.ts'

const name = fileNameOf('user:42')

async function withFile(context: CaseContext, content: string) {
  const dir = await memoryFolder(context)
  const path = join(dir, name)
  await writeFile(path, content)
  return { path, memory: markdownMemory(dir), content: () => readFile(path, 'utf8') }
}

const title = '# Memory of user:42\n\nNotes of mine.\n\n'

describe('markdown memory', (it) => {
  it('writes a file that people can read, for its owner alone', async (context) => {
    const dir = await memoryFolder(context)
    const memory = markdownMemory(join(dir, 'below'))
    await memory.put(fact('m1', 'Prefers tabs.'))
    const path = join(dir, 'below', name)
    const content = await readFile(path, 'utf8')
    assert.match(content, /^# Memory of user:42\n/)
    assert.match(content, /\n## m1\n\n<!-- \{"kind":"fact",.*\} -->\n\nPrefers tabs\.\n$/)
    if (process.platform !== 'win32') assert.is((await stat(path)).mode & 0o077, 0)
    assert.equal(await readdir(join(dir, 'below')), [name])
  })

  it('has no file left once the last record is deleted', async (context) => {
    const dir = await memoryFolder(context)
    const memory = markdownMemory(dir)
    await memory.put(fact('m1', 'Prefers tabs.'))
    await memory.delete({ scope: 'user:42' })
    assert.equal(await readdir(dir), [])
  })

  it('reads what a person edited, and takes a section that they wrote for what they vouch for', async (context) => {
    const { path, memory, content } = await withFile(
      context,
      `${title}## Never deploy on Fridays\n\nNot even small things.\n`,
    )
    await memory.put(fact('m1', 'Prefers tabs.'))
    const [mine] = await memory.search('friday')
    assert.is(mine!.text, 'Never deploy on Fridays\nNot even small things.')
    assert.equal([mine!.approved, mine!.tainted, mine!.source], [true, false, { by: 'person' }])
    const before = await content()
    assert.ok(before.startsWith(`${title}## Never deploy on Fridays\n\nNot even small things.\n`))
    await writeFile(path, before.replace('tabs', 'spaces'))
    assert.equal((await memory.search('tabs')).length, 0)
    assert.equal(
      (await memory.search('spaces')).map(({ id }) => id),
      ['m1'],
    )
  })

  it('keeps sections that are nonsense, says where they are, and shows nothing of them', async (context) => {
    const nonsense = [
      '## m2\n\n<!-- {"kind":"fact", oh no -->\n\nHer password is tea.\n\n',
      '## m3\n\nThe line with the fields is gone.\n\n',
      '## m4\n\n<!-- {"kind":"rumour"} -->\n\nOf an unknown kind.\n\n',
      `## m5\n\n<!-- [] -->\n\n${'long '.repeat(1_000)}\n\n`,
      '## m1\n\n<!-- {} -->\n\n',
    ]
    const { path, memory, content } = await withFile(context, title + nonsense.join(''))
    await memory.put(fact('m1', 'Prefers tabs.'))
    await memory.put(fact('m6', 'Likes tea.'))
    await memory.delete({ scope: 'user:42', id: 'm6' })
    assert.equal(
      (await memory.list()).map(({ id }) => id),
      ['m1'],
    )
    assert.equal(await memory.search('password'), [])
    assert.match((await memory.problems!())[1]!.problem, /says nothing\. Correct the entry by hand/)
    const problems = (await memory.problems!()).map(({ place, problem }) => `${place.slice(path.length)} ${problem}`)
    assert.equal(
      problems.map((line) => line.slice(0, 30)),
      [
        ':5 its second line is not JSON',
        ':11 its second line is gone, a',
        ':15 kind: give "fact", "lesson',
        ':21 kind: give "fact", "lesson',
        ':27 kind: give "fact", "lesson',
      ].map((line) => line.slice(0, 30)),
    )
    const kept = await content()
    for (const section of nonsense) assert.ok(kept.includes(section.trimEnd()), section)
  })

  it('leaves nothing of a scope that is deleted, whatever its file holds', async (context) => {
    const { path, memory } = await withFile(
      context,
      `${title}## m2\n\n<!-- {"kind":"fact", oh no -->\n\nHer password is tea.\n\n## m3\n\nHer number.\n`,
    )
    await writeFile(`${path}.new`, 'half of a file')
    await memory.put(fact('m1', 'Prefers tabs.'))
    await writeFile(`${path}.new`, 'half of a file')
    assert.is(await memory.delete({ scope: 'user:42' }), 3)
    assert.equal(await readdir(dirname(path)), [])
    await writeFile(path, '# Memory of user:42\n\n## m3\n\nHer number.\n')
    assert.is(await memory.delete({ scope: 'user:42' }), 1)
    assert.is(await memory.delete({ scope: 'user:42' }), 0)
    await writeFile(`${path}.new`, 'half of a file')
    assert.is(await memory.delete({ scope: 'user:42' }), 0)
    assert.equal(await readdir(dirname(path)), [])
  })

  it('does not take a scope for deleted of which there is more where it does not read', async (context) => {
    const { path, memory } = await withFile(context, `${title}## Likes rum\n`)
    const copy = join(dirname(path), 'copy.md')
    await writeFile(copy, `${title}## Likes rum\n`)
    await assert.rejects(
      memory.delete({ scope: 'user:42' }),
      withCode('MEMORY_FAILED', `${copy} cannot be used: it is of`),
    )
    assert.equal(await readdir(dirname(path)), ['copy.md'])
    await writeFile(copy, '# Memory of user:43\n')
    await writeFile(path, '# Memory of user:43\n\n## Likes rum, says 43\n')
    await assert.rejects(memory.delete({ scope: 'user:42' }), withCode('MEMORY_FAILED', 'its title says user:43'))
  })

  it('deletes one scope twice at once', async (context) => {
    const dir = await memoryFolder(context)
    const memory = markdownMemory(dir)
    await memory.put(fact('m1', 'Prefers tabs.'))
    const counts = await Promise.all([memory.delete({ scope: 'user:42' }), memory.delete({ scope: 'user:42' })])
    assert.is(counts[0] + counts[1], 1)
    assert.equal(await readdir(dir), [])
  })

  it('keeps the first of two sections with one id, and tells of the second', async (context) => {
    const dir = await memoryFolder(context)
    const memory = markdownMemory(dir)
    await memory.put(fact('m1', 'Prefers tabs.'))
    const once = await readFile(join(dir, name), 'utf8')
    await writeFile(join(dir, name), once + once.slice(once.indexOf('\n## ')).replace('tabs', 'spaces'))
    assert.equal(
      (await memory.list()).map(({ text }) => text),
      ['Prefers tabs.'],
    )
    assert.match((await memory.problems!())[0]!.problem, /stands above already/)
    await memory.put(fact('m1', 'Prefers tabs.', { confirmations: ['a2/r0'] }))
    assert.match(await readFile(join(dir, name), 'utf8'), /Prefers spaces\./)
    assert.is(await memory.delete({ scope: 'user:42', id: 'm1' }), 2)
    assert.equal(await memory.list(), [], 'the second does not take its place')
  })

  it('gives nothing of a file whose title names another scope, and writes nothing into it', async (context) => {
    const { memory, content } = await withFile(context, '# Memory of user:43\n\n## Likes rum, says 43\n')
    assert.equal(await memory.list({ scopes: ['user:42'] }), [])
    assert.equal(await memory.list({ scopes: ['user:43'] }), [])
    assert.equal(await memory.search('rum'), [])
    await assert.rejects(memory.put(fact('m1', 'Tea.')), withCode('MEMORY_FAILED', 'its title says user:43'))
    assert.match((await memory.problems!())[0]!.problem, /that of user:43 must be named/)
    assert.is(await content(), '# Memory of user:43\n\n## Likes rum, says 43\n')
  })

  it('refuses to write over what is no text', async (context) => {
    const { path, memory } = await withFile(context, '')
    const bytes = Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a])
    await writeFile(path, bytes)
    await assert.rejects(memory.put(fact('m1', 'Tea.')), withCode('MEMORY_FAILED', path))
    assert.equal(await readFile(path), bytes)
  })

  it('takes line ends of another system and a byte order mark', async (context) => {
    const { memory } = await withFile(
      context,
      `\uFEFF${title}## Likes tea\r\n`.replaceAll('\n', '\r\n').replaceAll('\r\r', '\r'),
    )
    assert.equal(
      (await memory.list()).map(({ text }) => text),
      ['Likes tea'],
    )
    assert.equal(await memory.problems!(), [])
  })

  it('says which folder it cannot use', async (context) => {
    const dir = await memoryFolder(context)
    const file = join(dir, 'file')
    await writeFile(file, '')
    const memory = markdownMemory(file)
    await assert.rejects(memory.list(), withCode('MEMORY_FAILED', file))
    await assert.rejects(memory.put(fact('m1', 'Tea.')), withCode('MEMORY_FAILED', file))
    assert.throws(() => markdownMemory(''), withCode('INVALID_OPTION', 'give a folder'))
  })

  it('overwrites what a process left that died while it wrote', async (context) => {
    const dir = await memoryFolder(context)
    const path = join(dir, name)
    await writeFile(`${path}.new`, 'half of a fi')
    const dead = { pid: 2_000_000_000, host: hostname(), startedAt: '', token: 'x' }
    await writeFile(`${path}.lock`, JSON.stringify(dead))
    await markdownMemory(dir).put(fact('m1', 'Tea.'))
    assert.equal(
      (await markdownMemory(dir).list()).map(({ text }) => text),
      ['Tea.'],
    )
    assert.equal(await readdir(dir), [name])
  })

  it('names each scope a file of its own, whatever is in its name', () => {
    const scopes = [
      'user:a',
      'user:A',
      'user:a/b',
      'user:a-b',
      'user:..',
      'user:é',
      'workspace:a',
      'agent:a',
      `user:${'x'.repeat(256)}`,
    ] as const
    const names = scopes.map(fileNameOf)
    assert.is(new Set(names.map((each) => each.toLowerCase())).size, scopes.length)
    for (const each of names) assert.match(each, /^[a-z0-9-]{1,80}\.md$/)
  })

  it('finds among thousands, and takes in what changed', { timeoutMs: 20_000 }, async (context) => {
    const dir = await memoryFolder(context)
    const memory = markdownMemory(dir)
    await memory.put(fact('m0', 'The needle is here.'))
    const one = await readFile(join(dir, name), 'utf8')
    const sections = Array.from({ length: 4_000 }, (_, index) =>
      one
        .slice(one.indexOf('## '))
        .replace('m0', `x${index}`)
        .replace('The needle is here', `Straw number ${index} of the haystack`),
    )
    await writeFile(join(dir, name), `${one}\n${sections.join('\n')}`)
    assert.is((await memory.list()).length, 4_001)
    assert.equal(
      (await memory.search('needle')).map(({ id }) => id),
      ['m0'],
    )
    assert.equal(
      (await memory.search('straw 3999', { limit: 1 })).map(({ id }) => id),
      ['x3999'],
    )
    await memory.delete({ scope: 'user:42', id: 'm0' })
    assert.equal(await memory.search('needle'), [])
  })
})
