import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileRules } from '../src/fileRules.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

async function place({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rules-'))
  cleanup(() => rm(folder, { recursive: true }))
  return join(folder, 'deep', 'rules.jsonl')
}

const allow = { rule: 'run_command(npm test)', decision: 'allow' } as const
const deny = { rule: 'run_command(rm *)', decision: 'deny' } as const

describe('rules in a file', (it) => {
  it('are kept for a definition and a folder, and read by another process', async (context) => {
    const path = await place(context)
    const rules = fileRules(path, { folder: '/a' })
    assert.equal(await rules.read('coder'), [])
    await rules.add('coder', allow)
    await rules.add('coder', allow)
    await rules.add('coder', deny)
    await rules.add('other', deny)
    assert.equal(await fileRules(path, { folder: '/a' }).read('coder'), [allow, deny])
    assert.equal(await fileRules(path, { folder: '/b' }).read('coder'), [])
    await fileRules(path, { folder: '/a' }).remove('coder', allow)
    assert.equal(await rules.read('coder'), [deny])
    assert.equal(await rules.read('other'), [deny])
  })

  it('are in a file that only its owner reads, also if it was more open', async (context) => {
    const path = await place(context)
    const rules = fileRules(path)
    await rules.add('coder', allow)
    if (process.platform === 'win32') return
    assert.is((await stat(path)).mode & 0o777, 0o600)
    await chmod(path, 0o644)
    await rules.add('coder', deny)
    assert.is((await stat(path)).mode & 0o777, 0o600)
  })

  it('survive a torn line, and lines that are none', async (context) => {
    const path = await place(context)
    const rules = fileRules(path)
    await rules.add('coder', allow)
    await appendFile(path, '{"definition":"coder","ru')
    await rules.add('coder', deny)
    assert.equal(await rules.read('coder'), [allow, deny])
    await writeFile(
      path,
      `${await readFile(path, 'utf8')}null\n{}\n[1]\nxx\n{"definition":"coder","rule":"*","decision":"allow"}\n`,
    )
    assert.equal(await rules.read('coder'), [allow, deny])
  })
})
