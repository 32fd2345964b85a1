import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceTools } from '../../src/index.ts'
import { assert, describe } from '../support/suite.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'recipes.md'), 'utf8')

describe('the table of workspace tools', (it) => {
  it('has every tool with its parameters, and no more', () => {
    const told = Object.fromEntries(
      [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, text]) => [
        name,
        [...text!.matchAll(/`(\w+\??)`/g)].map(([, parameter]) => parameter!).toSorted(),
      ]),
    )
    const real = workspaceTools(import.meta.dirname).map(({ name, inputSchema }) => {
      const { properties, required = [] } = inputSchema as { properties: object; required?: readonly string[] }
      return [
        name,
        Object.keys(properties)
          .map((key) => (required.includes(key) ? key : `${key}?`))
          .toSorted(),
      ]
    })
    assert.equal(told, Object.fromEntries(real))
  })
})
