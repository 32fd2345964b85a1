export const up = (tables) => void (tables.users = ['id', 'name'])
