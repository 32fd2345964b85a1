import { execFileSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testsOf } from './changedFiles.ts'
import { ImportGraph } from './importGraph.ts'
import { oneCase, runIn, testProject } from './runnerProcess.ts'
import { assert, describe, type CaseContext } from './suite.ts'

const files = {
  'src/wheel.ts': `export { tooth } from './tooth.ts'\n`,
  'src/tooth.ts': 'export const tooth = 1\n',
  'src/hand.ts': 'export const hand = 1\n',
  'src/child.ts': `await import("./hand.ts")\n`,
  'src/alone.ts': 'export {}\n',
  'test/wheel.test.ts': `import '../src/wheel.ts'\n${oneCase('')}`,
  'test/hand.test.ts': `new URL('../src/child.ts', import.meta.url)\n${oneCase('')}`,
  'test/docs/pages.test.ts': oneCase(''),
}
const tests = Object.keys(files).filter((file) => file.startsWith('test/'))

/** A repository with these files on its branch `main`. */
async function repository(context: CaseContext): Promise<string> {
  const root = await testProject(context, files)
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root, stdio: 'pipe' })
  writeFileSync(join(root, '.gitignore'), 'node_modules\nrun.ts\n')
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  git('switch', '--quiet', '--create', 'work')
  appendFileSync(join(root, 'src/tooth.ts'), '// sharper\n')
  git('commit', '--quiet', '--all', '--message', 'sharper')
  return root
}

describe('the files a file reaches', (it) => {
  it('are those it imports, re-exports or names by a relative path, and theirs', async (context) => {
    const graph = new ImportGraph(await testProject(context, files))
    const reached = (file: string): string[] => [...graph.reachedFrom(file)].toSorted()
    assert.equal(reached('test/wheel.test.ts'), ['src/tooth.ts', 'src/wheel.ts', 'test/wheel.test.ts'])
    assert.equal(reached('test/hand.test.ts'), ['src/child.ts', 'src/hand.ts', 'test/hand.test.ts'])
  })

  it('choose the tests of a change, and leave what no test reaches to be named', async (context) => {
    const graph = new ImportGraph(await testProject(context, files))
    const chosen = (...changed: string[]) => testsOf(changed, tests, graph)
    assert.equal(chosen('src/tooth.ts').tests, ['test/wheel.test.ts', 'test/docs/pages.test.ts'])
    assert.equal(chosen('test/hand.test.ts'), { tests: ['test/hand.test.ts'], unreached: [] })
    assert.equal(chosen('README.md').tests, ['test/docs/pages.test.ts'])
    assert.equal(chosen('package.json').tests, tests)
    assert.equal(chosen('LICENSE'), { tests: [], unreached: ['LICENSE'] })
    assert.equal(chosen(), { tests: [], unreached: [] })
  })
})

describe('a run of what has changed', (it) => {
  const slow = { timeoutMs: 20_000 }

  it('takes what was committed on the branch', slow, async (context) => {
    const { code, last, output } = await runIn(context, await repository(context), ['--changed'])
    assert.match(
      output,
      /1 file differs from main; 2 of 3 test files reach it:\n {2}test\/docs\/pages.test.ts\n {2}test\/wheel.test.ts\n/,
    )
    assert.is(last, '2 passed, 0 failed, 0 skipped')
    assert.is(code, 0)
  })

  it('takes what is not committed, new files, and only what a filter names', slow, async (context) => {
    const root = await repository(context)
    appendFileSync(join(root, 'src/hand.ts'), '// longer\n')
    writeFileSync(join(root, 'NOTES'), '')
    const { last, output } = await runIn(context, root, ['--changed', 'hand'])
    assert.match(output, /3 files differ from main; 1 of 1 test file reaches them:\n {2}test\/hand.test.ts\n/)
    assert.match(output, /No test file reaches NOTES, src\/tooth.ts/)
    assert.is(last, '1 passed, 0 failed, 0 skipped')
  })

  it('runs nothing, and says so, where nothing has changed', slow, async (context) => {
    const root = await repository(context)
    execFileSync('git', ['switch', '--quiet', 'main'], { cwd: root, stdio: 'pipe' })
    const { code, last, output } = await runIn(context, root, ['--changed'])
    assert.match(output, /^No file differs from main/)
    assert.is(last, '0 passed, 0 failed, 0 skipped')
    assert.is(code, 0)
  })

  it('fails where there is no repository', slow, async (context) => {
    const { code, output } = await runIn(context, await testProject(context, files), ['--changed'])
    assert.match(output, /--changed asks git, which says: .*not a git repository/)
    assert.is(code, 1)
  })
})
