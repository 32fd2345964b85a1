/** The parts by which a person acts on an agent: their code comes beside that of its conversation, which is read before. */
export { HeaderActions } from './headerActions.tsx'
export { PromptBox } from './promptBox.tsx'
export { PendingBar } from '../calls/pendingBar.tsx'
