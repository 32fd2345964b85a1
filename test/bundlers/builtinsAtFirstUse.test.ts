import { compileFunction } from 'node:vm'
import { withoutImports } from '../../scripts/builtinsAtFirstUse.ts'
import { assert, describe } from '../support/suite.ts'

/** Runs a module whose imports are gone; `asked`: which modules of Node it asked for until then. */
function run(code: string) {
  const asked: string[] = []
  const process = {
    getBuiltinModule(name: string) {
      asked.push(name)
      return globalThis.process.getBuiltinModule(name)
    },
  }
  const body = withoutImports(code)
    .replace(/export const result =/, 'return')
    .replaceAll('export ', '')
  const result: unknown = compileFunction(body, ['process'])(process)
  return { result, asked }
}

describe('modules of Node in the built package', (it) => {
  it('are asked for when something of them is used, and each once', () => {
    const { result, asked } = run(`
      import { createHash as hash, randomUUID } from 'node:crypto'
      import { join } from 'node:path'
      export const result = [() => hash('sha256'), () => join('a', 'b'), randomUUID]
    `)
    const [digest, path] = result as readonly [() => unknown, () => unknown]
    assert.equal(asked, ['node:crypto'])
    assert.is(path(), ['a', 'b'].join(globalThis.process.getBuiltinModule('node:path').sep))
    digest()
    digest()
    assert.equal(asked, ['node:crypto', 'node:path'])
  })

  it('give what an import gives, wherever a name stands', () => {
    const { result } = run(`
      import { EventEmitter } from 'node:events'
      import { sep, join as at } from 'node:path'
      class Own extends EventEmitter { sep() { return this.join } }
      const own = new Own(), made = new EventEmitter(), fields = { sep, at: at('a') , [sep]: 1 }, { join } = own
      own.sep = sep
      export const result = [own instanceof EventEmitter, made.listenerCount('x'), fields, join, \`\${sep}\`, own.sep]
    `)
    const { sep } = globalThis.process.getBuiltinModule('node:path')
    assert.equal(result, [true, 0, { sep, at: 'a', [sep]: 1 }, undefined, sep, sep])
  })

  it('leave every line where it was', () => {
    const code = "import {\n  join,\n  sep,\n} from 'node:path'\nthrow new Error(join('a', sep))\n"
    const lines = withoutImports(code).split('\n')
    assert.is(lines.length, code.split('\n').length)
    assert.match(lines[4]!, /^throw new Error/)
  })

  it('are not looked for in imports of others', () => {
    const code = "import { join } from './join.ts'\nimport { z } from 'zod'\njoin(z)\n"
    assert.is(withoutImports(code), code)
  })

  it('must be imported by name', () => {
    for (const code of ["import * as path from 'node:path'", "import path from 'node:path'"])
      assert.throws(() => withoutImports(code), /by name/)
  })
})
