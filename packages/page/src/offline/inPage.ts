/**
 * Entry of pages that run agents themselves: built with `scripts/inBrowser.ts`, and with `inspector/styles/page.css` where it shows the
 * inspector.
 */
export { openInPage, type InPage, type InPageOptions } from './openInPage.ts'
export { showInspector, type ShowOptions, type ShownInspector } from './showInspector.tsx'
export { Steps } from './demo/steps.ts'
export { defineSorter, type SorterOptions } from './demo/defineSorter.ts'
export { folderTools } from './demo/folderTools.ts'
export { sortTask, defaultTimeLimitMs } from '../../../demo/src/sortTask.ts'
export { defineAgent } from '../../../define/src/defineAgent.ts'
export { defineTool } from '../../../../src/actors/tools/defineTool.ts'
export { policyModel } from '../../../models/src/policyModel.ts'
export { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
export { connect } from '../../../bridge/src/client/connect.ts'
