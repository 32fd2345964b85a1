import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { assert, describe } from '../support/suite.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

/** Paths of the YAML files in a folder. */
const yamlIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(root, folder))).filter((name) => name.endsWith('.yml')).map((name) => join(folder, name))

interface Step {
  readonly uses?: string
  readonly run?: string
}

describe('what those who join the project find', (it) => {
  it('has links that lead somewhere', async () => {
    const pages = ['SECURITY.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'docs/stability.md', 'docs/upgrading.md']
    for (const page of pages)
      for (const [, way = ''] of (await read(page)).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
        assert.ok(existsSync(join(root, dirname(page), way)), `${page}: ${way}`)
  })

  it('has forms for issues whose fields are told apart', async () => {
    const forms = (await yamlIn('.github/ISSUE_TEMPLATE')).filter((path) => !path.endsWith('config.yml'))
    assert.is(forms.length, 3)
    for (const path of forms) {
      const form = parse(await read(path)) as {
        readonly name: string
        readonly description: string
        readonly body: readonly { readonly type: string; readonly id?: string }[]
      }
      assert.ok(form.name !== '' && form.description !== '', path)
      const ids = form.body.flatMap(({ type, id }) => (type === 'markdown' ? [] : [id]))
      assert.is(new Set(ids).size, ids.length, path)
      assert.not.ok(ids.includes(undefined), path)
    }
  })

  it('has workflows that run what the project has', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    for (const path of await yamlIn('.github/workflows')) {
      const { jobs } = parse(await read(path)) as {
        readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>
      }
      for (const { steps } of Object.values(jobs))
        for (const { run = '' } of steps) {
          for (const [, name = ''] of run.matchAll(/npm run ([\w:-]+)/g)) assert.ok(name in scripts, `${path}: ${name}`)
          for (const [, file = ''] of run.matchAll(/bash (\S+)/g))
            assert.ok(existsSync(join(root, file)), `${path}: ${file}`)
        }
    }
  })

  it('publishes only from a workflow that may say who it is', async () => {
    const { permissions } = parse(await read('.github/workflows/release.yml')) as { readonly permissions: object }
    assert.equal(permissions, { contents: 'read', 'id-token': 'write' })
  })
})
