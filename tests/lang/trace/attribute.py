class Config:
    pass


config = Config()
value = [config.missing.deeper for _ in range(2)]
