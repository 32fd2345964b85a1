/** The door "escapement/code": scripts of models that call tools. Needs the package `quickjs-wasi`. */
export { codeTool } from '../packages/code/src/codeTool.ts'

// Engines
export { quickJsEngine } from '../packages/code/src/quickJsEngine.ts'
export type { CodeEngine, Script, ScriptAnswer, ScriptLimits } from '../packages/code/src/engine.ts'
