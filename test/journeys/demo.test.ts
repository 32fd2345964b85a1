import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sampleProject } from '../../packages/cli/src/demo/sampleProject.ts'
import { runCli } from '../../packages/cli/test/cliInProcess.ts'
import { cliCommand, projectFolder, startChild } from '../../packages/cli/test/cliChild.ts'
import { assert, describe } from '../support/suite.ts'

const timeoutMs = 60_000

const projectIn = (dir: string): string =>
  join(
    dir,
    readdirSync(dir).find((name) => name.startsWith('escapement-demo-'))!,
    'project',
  )

describe('the demo', (it) => {
  it('repairs the sample project without a key and checks it', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const { code, stdout, stderr } = await runCli(context, ['demo'], { cwd })
    assert.is(code, 0, stderr)
    const steps = [
      'list_files',
      'exit code 1',
      'read_file test/order.test.js',
      'edit_file src/shipping.js',
      'exit code 0',
      // In a fence, since a bare "-" and "+" would be lists.
      '```diff\n- if (total > freeFrom) return 0\n+ if (total >= freeFrom) return 0\n```',
      'the tests pass.',
      '>= freeFrom',
    ]
    let at = 0
    for (const step of steps) {
      const found = stdout.indexOf(step, at)
      assert.ok(found !== -1, `"${step}" is missing after ${JSON.stringify(stdout.slice(at, at + 200))}`)
      at = found
    }
    const after = readFileSync(join(projectIn(cwd), 'src/shipping.js'), 'utf8')
    assert.is(after, sampleProject['src/shipping.js']!.replace('total > freeFrom', 'total >= freeFrom'))
  })

  it("takes a task of one's own, which the embedded model may decline", { timeoutMs }, async (context) => {
    const { code, stdout } = await runCli(context, ['demo', 'explain', 'the', 'project'])
    assert.is(code, 1)
    assert.match(stdout, /Task: explain the project/)
    assert.match(stdout, /No file was changed/)
  })

  it('stops at Ctrl-C with 130', { timeoutMs }, async (context) => {
    const child = startChild(context, cliCommand(['demo']), { input: '' })
    await child.until('I run the tests')
    child.signal('SIGINT')
    const { code, stdout } = await child.ended
    assert.is(code, 130)
    assert.match(stdout, /✗ aborted/)
    assert.not.match(stdout, /What changed/)
  })
})
