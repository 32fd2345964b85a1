import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { version as ours } from '../../../src/protocol/version.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The command line as a Node of this version would run it. */
function versionWith(node: string) {
  const pretend = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${node}' })`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretend, program, '--version'])
  return { status, stdout: String(stdout).trim(), stderr: String(stderr) }
}

describe('the version of Node that the command line is run with', (it) => {
  it('is that of package.json or a newer one, or is refused with both', { timeoutMs: 60_000 }, () => {
    const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
    const least = (JSON.parse(manifest) as { engines: { node: string } }).engines.node.replace('>=', '')
    for (const node of [`${least}.0`, '23.0.0'])
      assert.equal(versionWith(node), { status: 0, stdout: ours, stderr: '' }, node)
    for (const node of ['22.17.1', '20.19.5']) {
      const { status, stdout, stderr } = versionWith(node)
      assert.equal([status, stdout], [1, ''])
      assert.match(stderr, `escapement: Node ${least} or newer is needed; this is ${node}.`)
    }
  })
})
