import { readFileSync } from 'node:fs'
import { wrongNode } from '../../src/cli/nodeVersion.ts'
import { assert, describe } from '../support/suite.ts'

describe('the version of Node that the command line is run with', (it) => {
  it('is that of package.json or a newer one, or is refused with both', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      engines: { node: string }
    }
    const least = manifest.engines.node.replace('>=', '')
    for (const version of [`${least}.0`, '22.19.1', '24.0.0', '100.0.0', process.versions.node])
      assert.is(wrongNode(version), undefined, version)
    for (const version of ['22.17.1', '22.9.0', '20.19.5', '8.0.0'])
      assert.match(wrongNode(version)!, `Node ${least} or newer is needed; this is ${version}.`)
  })
})
