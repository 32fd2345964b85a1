/** The door "escapement/code": scripts of models that call tools. Needs the package `quickjs-wasi`. */
export { codeTool, type CodeToolOptions } from '../packages/code/src/codeTool.ts'
export type { CodeLimits } from '../packages/code/src/scriptTool.ts'

// Engines
export { quickJsEngine, type QuickJsEngineOptions } from '../packages/code/src/quickJsEngine.ts'
export type {
  CodeEngine,
  OpenScript,
  Script,
  ScriptAnswer,
  ScriptCall,
  ScriptEnd,
  ScriptLimits,
  ScriptListener,
  ScriptStep,
} from '../packages/code/src/engine.ts'
