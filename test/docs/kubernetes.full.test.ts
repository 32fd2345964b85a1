import { readFile } from 'node:fs/promises'
import { parseAllDocuments } from 'yaml'
import { judge, judged } from '../judges/judge.ts'
import { assert, describe } from '../support/suite.ts'

interface Thing {
  readonly kind: string
  readonly apiVersion: string
}

/** Throws what is not as Kubernetes has it. */
async function validate(thing: Thing): Promise<void> {
  const { kind, apiVersion } = thing
  type Model = new (thing: Thing) => { validate(): void }
  const models = await judge<Readonly<Record<string, Model>>>(`kubernetes-models/${apiVersion}/${kind}`)
  new models[kind]!(thing).validate()
}

describe('the models of Kubernetes', (it) => {
  judged(it)('know all that examples/cluster has for it', { timeoutMs: 30_000 }, async () => {
    const file = new URL('../../examples/cluster/kubernetes.yaml', import.meta.url)
    const things = parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS() as Thing)
    for (const thing of things) await validate(thing)
    const wrong = { ...things.find(({ kind }) => kind === 'Deployment')!, spec: { replicas: 'two' } }
    const thrown = await validate(wrong).catch((error: unknown) => error)
    assert.match(String(thrown), /replicas/)
  })
})
