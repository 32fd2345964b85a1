/** What a person does to an agent: its code comes beside that of its conversation, which is read before. */
export { HeaderActions } from './headerActions.tsx'
export { PromptBox } from './promptBox.tsx'
export { PendingBar } from '../calls/pendingBar.tsx'
